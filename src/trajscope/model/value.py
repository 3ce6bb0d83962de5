"""The base of every public value: frozen, both spellings in, the reference's JSON out.

One thing a newcomer would get wrong: unset is not null. A field that was never set does not
appear in the JSON; one that was set to None does, as null.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer
from pydantic.alias_generators import to_camel

camel = cache(to_camel)
"""Returns the name of a field in camelCase: of a few hundred, asked for every value written."""


class Value(BaseModel):
    """Base of every public value: frozen, camelCase and snake_case in, unset fields left out."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        defer_build=True,  # schemas are built when a value of the class is, if one ever is
    )

    @model_serializer(mode="wrap")
    def _leave_out_unset(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        unset = {*type(self).model_fields} - self.model_fields_set
        hidden = unset | set(map(camel, unset))
        return {k: v for k, v in data.items() if k not in hidden}

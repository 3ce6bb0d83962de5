"""`python`: a function that looks at a trajectory."""

from __future__ import annotations

from trajscope.errors import UsageError
from trajscope.model.check import Check, Predicate
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind
from trajscope.rules._outside import load_function


def compile_python(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return the function, named `file.py:function`; the file is looked for beside the policy."""
    del name
    path, colon, function = body.text().rpartition(":")
    if not colon or not path or not function.isidentifier():
        body.fail(f"is no function (got {body.value!r:.80}); file.py:function was expected")
        return ()
    found = Predicate(body.file(path), function)
    try:
        load_function(found.path, function)
    except UsageError as error:
        body.fail(f"{path}: {error.message}", error.hint)
    return (found,)


RULE = Kind(
    name="python",
    description="A Python function that looks at the trajectory; what it returns is the verdict.",
    compile=compile_python,
)

"""Message lists of other libraries in the reference's message form: `to_messages`.

OpenAI (chat and Responses), Anthropic, LangChain, pydantic-ai, the AI SDK, Gemini and Bedrock, each
as the library's objects or as their JSON, mixed if need be. One thing a newcomer would get wrong:
a message that only answers a call vanishes. The reference's form keeps a result beside its call.
"""

from trajscope.evals.adapters._blocks import invocation_of_part
from trajscope.evals.adapters._convert import convert, to_messages
from trajscope.evals.adapters._join import Converted
from trajscope.evals.adapters._plain import plain

__all__ = ["Converted", "convert", "invocation_of_part", "plain", "to_messages"]

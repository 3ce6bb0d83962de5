"""Judges through pydantic-ai, which knows the providers: the extra `trajscope[judge]`.

One thing a newcomer would get wrong: importing this costs nothing; the model library is imported
when the first judge is made, and its absence is told then.
"""

from trajscope.judges._judge import ModelJudge, Patience
from trajscope.judges._resolve import resolve_judge

__all__ = ["ModelJudge", "Patience", "resolve_judge"]

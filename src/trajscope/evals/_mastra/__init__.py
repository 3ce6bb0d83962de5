"""The message helpers as the reference computes them: plain JSON in and out, oddities kept.

One thing a newcomer would get wrong: nothing here is the default. `evals.messages` answers as the
documentation says and calls these only under `compat="mastra"`.
"""

"""What is sent to a judge holds no secret."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

from tests.support.model_server import Answer, model_server
from trajscope.judges import Patience, resolve_judge
from trajscope.model.judge import JudgeRequest

PROMPT = 'Was this right?\n{"user": {"password": "CANARY-1", "id": "u-55"}}\nBearer CANARY-2.x'


def test_prompts_are_masked_unless_told_otherwise() -> None:
    with model_server([Answer("yes"), Answer("yes")]) as server:
        judge = resolve_judge(
            "openai-chat:stub-1", base_url=server.url, api_key="k", patience=Patience()
        )
        asyncio.run(judge.ask(JudgeRequest(PROMPT)))
        asyncio.run(replace(judge, redactor=None).ask(JudgeRequest(PROMPT)))
    masked, plain = (json.dumps(request["messages"]) for request in server.requests)
    assert "CANARY" not in masked
    assert "u-55" in masked
    assert masked.count("[REDACTED:") == 2
    assert "CANARY-1" in plain

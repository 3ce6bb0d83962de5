"""A model endpoint on loopback that speaks OpenAI's chat protocol and follows a script.

One thing a newcomer would get wrong: the script is per request, in order; its last entry repeats.
Where several ask at a time, a function chooses the answer by what was asked.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """What one request gets: a text in a completion, a status, silence for a while, raw bytes."""

    text: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hang_s: float = 0
    finish_reason: str = "stop"
    refusal: str | None = None
    raw: bytes | None = None
    usage: dict[str, Any] | None = field(
        default_factory=lambda: {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 110,
            "prompt_tokens_details": {"cached_tokens": 60},
            "completion_tokens_details": {"reasoning_tokens": 4},
        }
    )


@dataclass
class ModelServer:
    """Where the server listens, and the requests it got."""

    url: str
    requests: list[dict[str, Any]]


@contextmanager
def model_server(script: Sequence[Answer] | Callable[[str], Answer]) -> Iterator[ModelServer]:
    """Serve a script, or a function of the last message, until the block ends."""
    requests: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if callable(script):
                answer = script(json.loads(body)["messages"][-1]["content"])
            else:
                answer = script[min(len(requests), len(script) - 1)]
            peer = f"{self.client_address[0]}:{self.client_address[1]}"
            requests.append({"path": self.path, "peer": peer, **json.loads(body)})
            time.sleep(answer.hang_s)
            data = (
                answer.raw if answer.raw is not None else json.dumps(_completion(answer)).encode()
            )
            try:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                return  # the client has hung up

        def log_message(self, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield ModelServer(f"http://127.0.0.1:{server.server_port}/v1", requests)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _completion(answer: Answer) -> dict[str, Any]:
    if answer.status >= 400:
        said = answer.text or "scripted"
        return {"error": {"message": said, "type": "scripted", "code": answer.status}}
    message = {"role": "assistant", "content": answer.text}
    if answer.refusal is not None:
        message["refusal"] = answer.refusal
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "stub-1",
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish_reason}],
        **({"usage": answer.usage} if answer.usage is not None else {}),
    }

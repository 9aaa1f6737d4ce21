"""A Gemini endpoint for Antigravity's engine: records every request and says little.

A request in which the person's last words hold `USE_TOOL` is answered with a command to run, twice;
all others with `DONE`. What is asked in JSON (titles and the like) is answered in JSON.
"""

import json

from hosts.model_server import Handler
from hosts.model_server import ModelServer as Base

TOOL_CALLS = 2


class _Handler(Handler):
    def do_GET(self):
        self.send({"models": []})

    def do_POST(self):
        body = json.loads(self.read_body() or b"{}")
        if "generatecontent" not in self.path.lower():
            self.send({"totalTokens": 10})
            return
        model = self.server
        model.requests.append(body)
        content = {"role": "model", "parts": [model.answer(body)]}
        asked = len(json.dumps(body)) // 4
        response = {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {
                "promptTokenCount": asked,
                "candidatesTokenCount": 2,
                "totalTokenCount": asked + 2,
            },
            "modelVersion": "mock",
            "responseId": str(len(model.requests)),
        }
        if "stream" in self.path.lower():
            self.send_events([response])
        else:
            self.send(response)


class ModelServer(Base):
    """`answer` is a function: a request's body -> the part that answers it."""

    handler = _Handler

    def __init__(self):
        super().__init__()
        self.answer = answer_of


def answer_of(body):
    """Return the part that answers a request."""
    if (body.get("generationConfig") or {}).get("responseMimeType") == "application/json":
        return {"text": "{}"}
    if "USE_TOOL" in last_request(body) and results_since(body) < TOOL_CALLS:
        arguments = {"CommandLine": "echo hello", "Cwd": "/", "WaitMsBeforeAsync": 1000}
        return {"functionCall": {"name": "run_command", "args": arguments}}
    return {"text": "DONE"}


def parts(body):
    """Return all parts of a request's contents, in order, each with its role."""
    return [
        (content.get("role"), part) for content in body["contents"] for part in content["parts"]
    ]


def last_request(body):
    """Return the text in which the person's last words stand."""
    texts = [part["text"] for _, part in parts(body) if "<USER_REQUEST>" in part.get("text", "")]
    return texts[-1] if texts else ""


def results_since(body):
    """Return how many tools were run since the person's last words."""
    count = 0
    for _, part in parts(body):
        if "<USER_REQUEST>" in part.get("text", ""):
            count = 0
        count += "functionResponse" in part
    return count

"""A model that Codex can talk to: it records every request and answers by rule.

The newest text of the person decides: a rule whose phrase it holds gives the calls that are made
one after the other, each from the output of the one before; then the answer is a sentence.
"""

import json

from hosts.model_server import ANSWER, Handler
from hosts.model_server import ModelServer as Base


def items_of(body):
    """Return role and text of a request's messages, in their order."""
    return [
        (item["role"], "\n".join(part.get("text", "") for part in item["content"]))
        for item in body["input"]
        if item.get("type", "message") == "message"
    ]


class _Handler(Handler):
    def do_GET(self):
        self.send({"object": "list", "data": []})

    def do_POST(self):
        body = json.loads(self.read_body())
        self.server.requests.append(body)
        item = self.server.item_for(body)
        total = self.server.tokens
        usage = {"input_tokens": total, "output_tokens": 5, "total_tokens": total + 5}
        response = {"id": f"resp_{len(self.server.requests)}", "object": "response"}
        begun = response | {"status": "in_progress", "output": []}
        done = response | {"status": "completed", "output": [item], "usage": usage}
        self.send_events(
            [
                ("response.created", {"response": begun}),
                ("response.output_item.done", {"output_index": 0, "item": item}),
                ("response.completed", {"response": done}),
            ]
        )


class ModelServer(Base):
    """`rules` maps a phrase to functions: output -> call."""

    handler = _Handler

    def __init__(self):
        super().__init__()
        self.rules = {}
        self.tokens = 100  # what a request is said to have cost

    @property
    def url(self):
        return super().url + "/v1"

    def item_for(self, body):
        """Return the output item that answers a request."""
        number = len(self.requests)
        users = [n for n, item in enumerate(body["input"]) if item.get("role") == "user"]
        since = body["input"][users[-1] :]
        outputs = [item["output"] for item in since if item["type"] == "function_call_output"]
        for phrase, calls in self.rules.items():
            if phrase in str(since[0]) and len(outputs) < len(calls):
                ids = {"id": f"fc_{number}", "call_id": f"call_{number}", "status": "completed"}
                call = calls[len(outputs)](outputs[-1] if outputs else "")
                return {"type": "function_call"} | ids | call
        text = {"type": "output_text", "text": ANSWER, "annotations": []}
        ids = {"id": f"msg_{number}", "role": "assistant", "status": "completed"}
        return {"type": "message", "content": [text]} | ids

"""A model that Claude Code can talk to: it records every request and answers by rule.

The newest user text that holds a rule's phrase decides; without one the answer is a sentence. A
request for a summary is answered with one, a tool's result with the sentence.
"""

import json

from hosts.model_server import ANSWER, Handler
from hosts.model_server import ModelServer as Base

SUMMARY = "<summary>MODEL-SUMMARY</summary>"
_SUMMARY_WANTED = "create a detailed summary"


def texts_of(messages):
    """Return the texts of messages, of system entries as well."""
    blocks = []
    for message in messages:
        content = message["content"]
        blocks += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [block["text"] for block in blocks if block.get("type") == "text"]


def _holds_result(message):
    content = message["content"]
    return isinstance(content, list) and any(b.get("type") == "tool_result" for b in content)


class _Handler(Handler):
    def do_HEAD(self):
        self.send({})

    def do_GET(self):
        self.send({"data": [], "has_more": False})

    def do_POST(self):
        body = json.loads(self.read_body() or b"{}")
        path = self.path.partition("?")[0]
        if not path.endswith("/v1/messages"):
            self.send({"input_tokens": 100} if path.endswith("/count_tokens") else {})
            return
        self.server.requests.append(body)
        content = self.server.content_for(body)
        message = {
            "id": f"msg_{len(self.server.requests)}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": "tool_use" if content[0]["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 20},
        }
        if body.get("stream"):
            self.send_events(_stream_of(message))
        else:
            self.send(message)


class ModelServer(Base):
    """`rules` maps a phrase to the tool call it gets."""

    handler = _Handler

    def __init__(self):
        super().__init__()
        self.rules = {}

    def content_for(self, body):
        """Return the blocks that answer a request."""
        last = texts_of(body["messages"][-1:])
        if any(_SUMMARY_WANTED in text for text in last):
            return [{"type": "text", "text": SUMMARY}]
        users = [message for message in body["messages"] if message["role"] == "user"]
        if not _holds_result(users[-1]):
            said = "\n".join(texts_of(users[-1:]))
            for phrase, call in self.rules.items():
                if phrase in said:
                    return [{"type": "tool_use", "id": f"toolu_{len(self.requests)}", **call}]
        return [{"type": "text", "text": ANSWER}]


def _stream_of(message):
    empty_message = message | {"content": [], "stop_reason": None}
    yield "message_start", {"message": empty_message}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {"text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield "content_block_start", {"index": index, "content_block": block | empty}
        yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"delta": stop, "usage": {"output_tokens": 20}}
    yield "message_stop", {}

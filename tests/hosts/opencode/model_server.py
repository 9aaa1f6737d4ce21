"""A model that OpenCode can talk to: chat completions, every request kept."""

import json
from typing import NamedTuple

from hosts.chat_completions import stream_of
from hosts.model_server import ANSWER, Handler
from hosts.model_server import ModelServer as Base

# What the system message of these requests begins with.
_KINDS = {
    "You are a title generator": "title",
    "You are a context summarization agent": "compaction",
    "You are a helpful AI assistant tasked with summarizing": "compaction",  # in 1.1
}


class Request(NamedTuple):
    """One call of the model."""

    kind: str  # "chat", or "title" or "compaction", which the host asks for by itself
    raw: bytes
    body: dict

    def texts(self, role):
        """Return the texts of all messages of a role."""
        return [flat(m["content"]) for m in self.body["messages"] if m["role"] == role]


def flat(content):
    """Return a message's text, whether it is sent as text or as parts."""
    if isinstance(content, str) or content is None:
        return content or ""
    return "\n".join(part.get("text", "") for part in content)


class _Handler(Handler):
    def do_POST(self):
        raw = self.read_body()
        body = json.loads(raw)
        system = "".join(flat(m["content"]) for m in body["messages"] if m["role"] == "system")
        kind = next((k for text, k in _KINDS.items() if system.startswith(text)), "chat")
        request = Request(kind, raw, body)
        model = self.server
        model.requests.append(request)
        reply = model.reply_to(request)
        if isinstance(reply, int):
            self.send({"error": {"message": "busy"}}, status=reply)
        else:
            cost = model.costs.pop(0) if kind == "chat" and model.costs else 100
            self.send_events(stream_of(reply, len(model.requests), cost))


class ModelServer(Base):
    """Answers with what `script` holds for the newest user message, else with a sentence.

    `script` maps a piece of that message to replies; the n-th reply goes to the n-th step of the
    turn, the last one to all later steps. A reply is a text, `(tool, arguments)` or a status code,
    which is sent once. `costs` holds what the next answers of a chat say they cost, in tokens.
    """

    handler = _Handler

    def __init__(self, script=None):
        super().__init__()
        self.script = dict(script or {})
        self.costs = []

    @property
    def url(self):
        return super().url + "/v1"

    def of_kind(self, kind):
        return [request for request in self.requests if request.kind == kind]

    def reply_to(self, request):
        if request.kind != "chat":
            return f"A {request.kind}"
        messages = request.body["messages"]
        newest = max(n for n, message in enumerate(messages) if message["role"] == "user")
        step = sum(message["role"] == "assistant" for message in messages[newest:])
        for piece, replies in self.script.items():
            if piece in flat(messages[newest]["content"]):
                reply = replies[min(step, len(replies) - 1)]
                if isinstance(reply, int):
                    replies.remove(reply)
                return reply
        return ANSWER

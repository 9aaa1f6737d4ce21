"""A model that OpenCode can talk to: chat completions on loopback, every request kept."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

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
    headers: dict

    def texts(self, role):
        """Return the texts of all messages of a role."""
        return [flat(m["content"]) for m in self.body["messages"] if m["role"] == role]


def flat(content):
    """Return a message's text, whether it is sent as text or as parts."""
    if isinstance(content, str) or content is None:
        return content or ""
    return "\n".join(part.get("text", "") for part in content)


class ModelServer:
    """Answers with what `script` holds for the newest user message, else with "ANSWER".

    `script` maps a piece of that message to replies; the n-th reply goes to the n-th step of the
    turn, the last one to all later steps. A reply is a text, `(tool, arguments)` or a status code,
    which is sent once. `costs` holds what the next answers of a chat say they cost, in tokens.
    """

    def __init__(self, script=None):
        self.script = dict(script or {})
        self.requests = []
        self.costs = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.model = self
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self):
        self._server.shutdown()
        self._server.server_close()

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
        return "ANSWER"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["content-length"]))
        body = json.loads(raw)
        system = "".join(flat(m["content"]) for m in body["messages"] if m["role"] == "system")
        kind = next((k for text, k in _KINDS.items() if system.startswith(text)), "chat")
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(kind, raw, body, headers)
        model = self.server.model
        model.requests.append(request)
        reply = model.reply_to(request)
        if isinstance(reply, int):
            self._send(reply, "application/json", b'{"error":{"message":"busy"}}')
        else:
            cost = model.costs.pop(0) if kind == "chat" and model.costs else 100
            events = [*_events(reply, len(model.requests), cost), "[DONE]"]
            data = "".join(f"data: {event}\n\n" for event in events)
            self._send(200, "text/event-stream", data.encode())

    def _send(self, status, kind, data):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _events(reply, number, tokens):
    """Return a streamed answer: its role, its content, its end, its cost."""
    if isinstance(reply, str):
        content, reason = {"content": reply}, "stop"
    else:
        function = {"name": reply[0], "arguments": json.dumps(reply[1])}
        call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        content = {"tool_calls": [call]}
        reason = "tool_calls"
    base = {"id": f"answer-{number}", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    for delta, finish in (({"role": "assistant"}, None), (content, None), ({}, reason)):
        yield json.dumps(
            base | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        )
    usage = {"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10}
    yield json.dumps(base | {"choices": [], "usage": usage})

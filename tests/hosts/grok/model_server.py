"""A model on loopback for Grok: chat completions, answered by script, every request kept."""

import json
import sys
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LAST_WORD = "The last word."
SUMMARY_WANTED = "concise summary of the conversation"


class Model:
    """What is asked, in order, and what is answered.

    A script is a list of answers, the last one repeated: a text, or (tool, arguments) for a call.
    An answer may be a function of the request. Side requests, for a session's title (no tools) or a
    summary, are kept apart and take nothing from the script.
    """

    def __init__(self):
        self.script = [LAST_WORD]
        self.requests = []  # the bodies of main requests
        self.times = []  # when each arrived
        self.others = []
        self.lock = threading.Lock()

    def answer(self, body):
        """Return the scripted answer to a request, and keep the request."""
        with self.lock:
            if len(body.get("tools") or []) < 2:
                self.others.append(body)
                return "A title"
            if SUMMARY_WANTED in str(body["messages"][-1]["content"]):
                self.others.append(body)
                return "The conversation was about a ledger and its units. " * 40
            self.requests.append(body)
            self.times.append(time.time())
            step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return step(body) if callable(step) else step

    def start(self, *script):
        """Forget what was asked; answer by a new script."""
        with self.lock:
            self.script = [*(script or [LAST_WORD])]
            self.requests, self.times, self.others = [], [], []


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model = None

    def log_message(self, *_words):
        pass

    def do_GET(self):
        self._send(200, {"object": "list", "data": [{"id": "mock-model", "object": "model"}]})

    def do_POST(self):
        raw = self._body()
        if not self.path.partition("?")[0].endswith("/chat/completions"):
            self._send(404, {"error": {"message": "not here"}})
            return
        body = json.loads(raw)
        answer = self.model.answer(body)
        (self._stream if body.get("stream") else self._whole)(answer)

    def _body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _send(self, status, value, kind="application/json"):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with suppress(OSError):  # the host has gone, as it does at its end
            self.wfile.write(data)

    def _whole(self, answer):
        message, reason = _message(answer)
        choice = {"index": 0, "message": message, "finish_reason": reason}
        self._send(200, _envelope("chat.completion", [choice]) | {"usage": _USAGE})

    def _stream(self, answer):
        message, reason = _message(answer)
        for number, call in enumerate(message.get("tool_calls", [])):
            call["index"] = number
        deltas = [(message, None), ({}, reason)]
        events = [
            _envelope(
                "chat.completion.chunk", [{"index": 0, "delta": delta, "finish_reason": reason}]
            )
            for delta, reason in deltas
        ]
        events.append(_envelope("chat.completion.chunk", []) | {"usage": _USAGE})
        lines = [f"data: {json.dumps(event)}\n\n" for event in events]
        self._send(200, "".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream")


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A host that ends in the middle of a side request is no error of the model's."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _envelope(kind, choices):
    fixed = {"id": "chatcmpl-1", "created": int(time.time()), "model": "mock-model"}
    return {"object": kind, "choices": choices} | fixed


def _message(answer):
    if isinstance(answer, str):
        return {"role": "assistant", "content": answer}, "stop"
    tool, arguments = answer
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{time.time_ns()}", "type": "function", "function": function}
    return {"role": "assistant", "content": "", "tool_calls": [call]}, "tool_calls"


@contextmanager
def serve():
    """Run a model server; yield the model and its port."""
    model = Model()
    handler = type("Handler", (_Handler,), {"model": model})
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield model, server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

"""A model that Grok can talk to: chat completions, answered by script, every request kept."""

import json
import threading
import time

from hosts.chat_completions import stream_of, whole_of
from hosts.model_server import ANSWER, Handler
from hosts.model_server import ModelServer as Base

SUMMARY_WANTED = "concise summary of the conversation"


class _Handler(Handler):
    def do_GET(self):
        self.send({"object": "list", "data": [{"id": "mock-model", "object": "model"}]})

    def do_POST(self):
        raw = self.read_body()
        if not self.path.partition("?")[0].endswith("/chat/completions"):
            self.send({"error": {"message": "not here"}}, status=404)
            return
        body = json.loads(raw)
        answer = self.server.answer(body)
        if body.get("stream"):
            self.send_events(stream_of(answer, time.time_ns()))
        else:
            self.send(whole_of(answer, time.time_ns()))


class ModelServer(Base):
    """What is asked, in order, and what is answered.

    A script is a list of answers, the last one repeated: a text, or (tool, arguments) for a call.
    An answer may be a function of the request. Side requests, for a session's title (no tools) or a
    summary, are kept apart and take nothing from the script.
    """

    handler = _Handler

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()
        self.start()

    def start(self, *script):
        """Forget what was asked; answer by a new script."""
        with self.lock:
            self.script = [*(script or [ANSWER])]
            self.requests = []  # the bodies of main requests
            self.times = []  # when each arrived
            self.others = []

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

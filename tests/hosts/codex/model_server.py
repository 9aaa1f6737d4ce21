"""A model that Codex can talk to on loopback: it records every request and answers by rule.

The newest text of the person decides: a rule whose phrase it holds gives the calls that are made
one after the other, each from the output of the one before; then the answer is a sentence.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = "MODEL-ANSWER"


class ModelServer(ThreadingHTTPServer):
    """Serves until the `with` block ends; `rules` maps a phrase to functions: output -> call."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests = []
        self.rules = {}
        self.tokens = 100  # what a request is said to have cost
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

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


def items_of(body):
    """Return role and text of a request's messages, in their order."""
    return [
        (item["role"], "\n".join(part.get("text", "") for part in item["content"]))
        for item in body["input"]
        if item.get("type", "message") == "message"
    ]


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self._reply({"object": "list", "data": []})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(body)
        item = self.server.item_for(body)
        total = self.server.tokens
        usage = {"input_tokens": total, "output_tokens": 5, "total_tokens": total + 5}
        response = {"id": f"resp_{len(self.server.requests)}", "object": "response"}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self._event("response.created", response=response | {"status": "in_progress", "output": []})
        self._event("response.output_item.done", output_index=0, item=item)
        done = {"status": "completed", "output": [item], "usage": usage}
        self._event("response.completed", response=response | done)

    def _reply(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _event(self, kind, **fields):
        self.wfile.write(
            f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
        )
        self.wfile.flush()

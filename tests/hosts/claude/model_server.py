"""A model that Claude Code can talk to on loopback: it records every request and answers by rule.

The newest user text that holds a rule's phrase decides; without one the answer is a sentence. A
request for a summary is answered with one, a tool's result with the sentence.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = "MODEL-ANSWER"
SUMMARY = "<summary>MODEL-SUMMARY</summary>"
_SUMMARY_WANTED = "create a detailed summary"


class ModelServer(ThreadingHTTPServer):
    """Serves until the `with` block ends; `rules` maps a phrase to the tool call it gets."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests = []
        self.rules = {}
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

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


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self._reply({})

    def do_GET(self):
        self._reply({"data": [], "has_more": False})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        path = self.path.partition("?")[0]
        if not path.endswith("/v1/messages"):
            self._reply({"input_tokens": 100} if path.endswith("/count_tokens") else {})
            return
        self.server.requests.append(body)
        content = self.server.content_for(body)
        reason = "tool_use" if content[0]["type"] == "tool_use" else "end_turn"
        message = {
            "id": f"msg_{len(self.server.requests)}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 20},
        }
        self._stream(message) if body.get("stream") else self._reply(message)

    def _reply(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, message):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self._event("message_start", message=message | {"content": [], "stop_reason": None})
        for index, block in enumerate(message["content"]):
            if block["type"] == "text":
                empty, delta = {"text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                empty = {"input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            self._event("content_block_start", index=index, content_block=block | empty)
            self._event("content_block_delta", index=index, delta=delta)
            self._event("content_block_stop", index=index)
        stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        self._event("message_delta", delta=stop, usage={"output_tokens": 20})
        self._event("message_stop")

    def _event(self, kind, **fields):
        self.wfile.write(
            f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
        )
        self.wfile.flush()

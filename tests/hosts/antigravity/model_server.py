"""A Gemini endpoint on loopback: records every request and says little.

A request in which the person's last words hold `USE_TOOL` is answered with a command to run, twice;
all others with `DONE`. What is asked in JSON (titles and the like) is answered in JSON.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOOL_CALLS = 2


class ModelServer:
    """The server as a context manager; `calls` holds the bodies of the requests for text."""

    def __enter__(self):
        self.calls = []
        self.answer = answer_of
        handler = type("Handler", (_Handler,), {"owner": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: ModelServer

    def log_message(self, *_):
        pass

    def do_GET(self):
        self._send({"models": []})

    def do_POST(self):
        body = json.loads(self._read() or b"{}")
        if "generatecontent" not in self.path.lower():
            self._send({"totalTokens": 10})
            return
        self.owner.calls.append(body)
        response = {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [self.owner.answer(body)]},
                    "finishReason": "STOP",
                    "index": 0,
                }
            ],
            "usageMetadata": {
                "promptTokenCount": len(json.dumps(body)) // 4,
                "candidatesTokenCount": 2,
                "totalTokenCount": len(json.dumps(body)) // 4 + 2,
            },
            "modelVersion": "mock",
            "responseId": str(len(self.owner.calls)),
        }
        if "stream" in self.path.lower():
            self._send(f"data: {json.dumps(response)}\r\n\r\n".encode(), "text/event-stream")
        else:
            self._send(response)

    def _read(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        blocks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            blocks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(blocks)

    def _send(self, content, kind="application/json"):
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


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

"""What all hosts' models are made of: a server on loopback that keeps requests and answers in JSON.

Each host's protocol, and what is answered to what, stands in `<host>/model_server.py`.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = "MODEL-ANSWER"


class ModelServer(ThreadingHTTPServer):
    """Serves until the `with` block ends; `requests` are the bodies that arrived, in order."""

    daemon_threads = True
    handler = BaseHTTPRequestHandler

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.handler)
        self.requests = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def __enter__(self):
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request, client_address):
        """A host that ends in the middle of a request is no error of the model's."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """Reads a request and sends an answer of known length."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def read_body(self):
        """Return the body's bytes, whether its length is told or it comes in pieces."""
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def send(self, value, status=200, kind="application/json"):
        """Send bytes as they are, anything else as JSON."""
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def send_events(self, events):
        """Send a stream of events: (kind, fields), or a value that has no kind."""
        self.send("".join(map(_event, events)).encode(), kind="text/event-stream")


def _event(event):
    if not isinstance(event, tuple):
        return f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n"
    kind, fields = event
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"

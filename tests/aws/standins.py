"""Two servers on loopback in place of the world outside: a model behind the Responses API and Meta's Graph API.

Both only keep what they were asked and answer as the real ones do; nothing is dropped, so a doubled send shows.
"""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Server:
    def __init__(self):
        self.requests = []
        self.delay_s = 0
        self.key = None
        handler = type("Handler", (_Handler,), {"server_of": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def take(self, path, body):
        """Keeps a request and gives its answer after the delay, which may change meanwhile for the next one."""
        request = {"path": path, "at": time.time(), **body}
        self.requests.append(request)
        delay_s = self.delay_s
        answer = self.answer(request, len(self.requests))
        time.sleep(delay_s)
        return answer

    def of(self, word):
        """The requests that hold this word."""
        return [request for request in self.requests if word in json.dumps(request, ensure_ascii=False)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        server = self.server_of
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if server.key and self.headers.get("authorization") != f"Bearer {server.key}":
            self.reply(401, server.refusal)
            return
        try:
            self.reply(200, server.take(self.path, body))
        except (BrokenPipeError, ConnectionResetError):
            pass  # the caller is gone, which is what some stories are about

    def reply(self, status, answer):
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Model(_Server):
    """Answers every request with one sentence."""

    refusal = {"error": {"type": "invalid_request_error", "code": "invalid_api_key", "message": "wrong key"}}

    def answer(self, request, count):
        content = [{"type": "output_text", "text": f"Resposta número {count}.", "annotations": []}]
        return {
            "id": f"resp_{count}",
            "object": "response",
            "status": "completed",
            "model": request["model"],
            "output": [{"type": "message", "role": "assistant", "status": "completed", "content": content}],
            "usage": {"input_tokens": 100, "output_tokens": 8, "total_tokens": 108},
        }


class Graph(_Server):
    """Takes every message that carries the right token."""

    refusal = {"error": {"code": 190, "type": "OAuthException", "message": "wrong token"}}

    def answer(self, request, count):
        return {
            "messaging_product": "whatsapp",
            "contacts": [{"input": request.get("to"), "wa_id": request.get("to")}],
            "messages": [{"id": f"wamid.sent{count}"}],
        }

#!/usr/bin/env python3
"""A server of language models that does what a script says, one entry a request, and writes down
what it was asked. A real one on a real socket, because what goes wrong with HTTP goes wrong there.

    scripted_server.py SCRIPT REQUESTS [CERTIFICATE KEY]

SCRIPT is a JSON list of entries; REQUESTS receives a JSON line a request. The port is printed to
stdout. It ends with its stdin. An entry may have:
    status, headers, body (text, or anything else: sent as JSON)
    retry_after_date  seconds from now, as an HTTP date
    body_bytes        that many blanks instead of a body
    cut               send only that many bytes of the body, though more were announced
    drop              close without a word
    hang              take the request and never answer
    echo              send back the request's headers, as careless servers do
Requests beyond the script are answered with 404 and a word that no test expects.
"""
import email.utils
import http.server
import json
import os
import ssl
import sys
import threading
import time


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    lock = threading.Lock()
    script = []
    requests = None

    def next_entry(self, request):
        with self.lock:
            self.requests.write(json.dumps(request) + "\n")
            self.requests.flush()
            return self.script.pop(0) if self.script else {"status": 404, "body": "script exhausted"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        entry = self.server.next_entry(
            {"method": "POST", "path": self.path, "headers": headers, "body": json.loads(text)})
        if entry.get("hang"):
            threading.Event().wait()
        if entry.get("drop"):
            self.close_connection = True
            return
        self.answer(entry, headers)

    def answer(self, entry, headers):
        body = entry.get("body", "")
        if entry.get("echo"):
            body = {"error": {"message": "bad headers " + json.dumps(headers)}}
        if "body_bytes" in entry:
            body = " " * entry["body_bytes"]
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(entry.get("status", 200))
        for name, value in entry.get("headers", {}).items():
            self.send_header(name, value)
        if "retry_after_date" in entry:
            when = time.time() + entry["retry_after_date"]
            self.send_header("Retry-After", email.utils.formatdate(when, usegmt=True))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data[: entry.get("cut", len(data))])
        except OSError:
            pass  # the client has had enough
        self.close_connection = "cut" in entry

    def log_message(self, *_):
        pass


def main():
    script, requests, *tls = sys.argv[1:]
    server = Server(("127.0.0.1", 0), Handler)
    with open(script, encoding="utf-8") as file:
        Server.script = json.load(file)
    Server.requests = open(requests, "w", encoding="utf-8")
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()

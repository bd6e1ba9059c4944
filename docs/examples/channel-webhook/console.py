#!/usr/bin/env python3
"""Talks with Hearth over its webhook channel: a line that you type is a message of
yours, and what Hearth says is printed. It needs nothing but Python.

    console.py SECRET [HEARTH] [PORT]

SECRET is channels.webhook.secret (whsec_…), HEARTH the address that takes messages,
PORT where this program listens, which is what channels.webhook.url names.
"""

import base64
import hashlib
import hmac
import http.server
import json
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid

KEY = base64.b64decode(sys.argv[1].removeprefix("whsec_"))
HEARTH = sys.argv[2] if len(sys.argv) > 2 else "http://127.0.0.1:18789/api/channels/webhook/default"
PORT = int(sys.argv[3]) if len(sys.argv) > 3 else 8099


def signature(ident, at, body):
    return "v1," + base64.b64encode(hmac.new(KEY, f"{ident}.{at}.".encode() + body, hashlib.sha256).digest()).decode()


def say(text):
    """Posts a message until Hearth has it on disk."""
    body = json.dumps({"senderId": "console", "senderName": "Somebody at the console", "text": text}).encode()
    ident = uuid.uuid4().hex
    while True:
        at = str(int(time.time()))
        head = {"Content-Type": "application/json", "Webhook-Id": ident, "Webhook-Timestamp": at, "Webhook-Signature": signature(ident, at, body)}
        try:
            urllib.request.urlopen(urllib.request.Request(HEARTH, body, head), timeout=30).close()
            return
        except urllib.error.HTTPError as e:
            why = e.read().decode(errors="replace")
            if e.code != 503:
                print(f"Hearth did not take it: {e.code} {why}", file=sys.stderr)
                return
        except OSError as e:
            print(f"Hearth cannot be reached ({e}); trying again", file=sys.stderr)
        time.sleep(5)


class Said(http.server.BaseHTTPRequestHandler):
    """Takes what Hearth says, each Webhook-Id once."""

    seen = set()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        ident, at = self.headers.get("Webhook-Id", ""), self.headers.get("Webhook-Timestamp", "")
        fresh = at.isdigit() and abs(time.time() - int(at)) < 300
        if not fresh or not hmac.compare_digest(self.headers.get("Webhook-Signature", ""), signature(ident, at, body)):
            return self.answer(401, {"error": "the signature is not Hearth's"})
        said = json.loads(body)
        if said["type"] != "message":
            return self.answer(422, {"error": "this program only prints messages"})
        if ident not in Said.seen:
            Said.seen.add(ident)
            print(said["text"], flush=True)
        self.answer(200, {"messageId": ident})

    def answer(self, status, what):
        raw = json.dumps(what).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Said)
threading.Thread(target=server.serve_forever, daemon=True).start()
for line in sys.stdin:
    if line.strip():
        say(line.strip())

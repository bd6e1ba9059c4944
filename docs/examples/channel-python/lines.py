#!/usr/bin/env python3
"""A channel for Hearth, whole, without a library.

The network is a server that speaks lines over TCP, each a word and a JSON value:

    MSG   {"id": "m1", "from": "ada", "text": "hello"}   somebody wrote to us
    TAKEN {"id": "m1"}                                   we have it; else it comes again
    SEND  {"key": "k", "to": "ada", "text": "hi"}        we write
    DONE  {"key": "k", "id": "s1"}                       the server's receipt, or
    NO    {"key": "k", "why": "refused"}                 refused, auth, busy, wait (with "ms")

It is here to be read and copied: docs/channels/write-your-own.md says what each
request is for.
"""
import json
import socket
import sys
import threading
import time

writing = threading.Lock()
answers = {}  # our requests to the gateway, by id: an event and what it answered


def write(message):
    with writing:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def ask(method, params):
    """Asks the gateway; True when it answered without an error."""
    number, answered = f"{method}-{time.monotonic_ns()}", threading.Event()
    answers[number] = entry = [answered, None]
    write({"id": number, "method": method, "params": params})
    answered.wait()
    return "error" not in entry[1]


class Failure(Exception):
    """An error with the code that says what it means."""

    def __init__(self, code, words, data=None):
        super().__init__(words)
        self.code, self.data = code, data


class TestNetwork:
    """The server, in this process, for `hearth channels check`: it does what it is told."""

    def __init__(self):
        self.at = socket.create_server(("127.0.0.1", 0))
        self.faults, self.arrived, self.taken, self.sent, self.client = [], [], set(), [], None
        threading.Thread(target=self.serve, daemon=True).start()

    def say(self, word, value):
        self.client.sendall(f"{word} {json.dumps(value)}\n".encode())

    def serve(self):
        while True:
            self.client, _ = self.at.accept()
            for message in self.arrived[:1]:  # one after the other, each until it was taken
                self.say("MSG", message)
            for line in self.client.makefile("r", encoding="utf-8"):
                word, _, value = line.partition(" ")
                if not self.came(word, json.loads(value)):
                    break
            self.client.close()

    def came(self, word, value):
        if word == "SEND":
            fault = self.faults.pop(0) if self.faults else {"kind": "ok"}
            why = {"passing": "busy", "limited": "wait", "refused": "refused", "auth": "auth"}.get(fault["kind"])
            if why:
                self.say("NO", {"key": value["key"], "why": why, "ms": fault.get("afterMs", 0)})
                return True
            self.sent.append({"messageId": f"s{len(self.sent) + 1}", "to": {"conversation": value["to"]}, "text": value["text"]})
            if fault["kind"] == "lost":
                self.client.shutdown(socket.SHUT_RDWR)
                return False
            self.say("DONE", {"key": value["key"], "id": self.sent[-1]["messageId"]})
        else:  # TAKEN or AGAIN
            if word == "TAKEN":
                self.taken.add(self.arrived.pop(0)["id"])
            for message in self.arrived[:1]:
                self.say("MSG", message)
        return True

    def play(self, method, p):
        """Answers the requests of the check."""
        if method == "test.script":
            self.faults += p["faults"]
        elif method == "test.receive":
            self.arrived.append({"id": p["messageId"], "from": p["conversation"], "text": p["text"]})
            if len(self.arrived) == 1 and self.client:
                self.say("MSG", self.arrived[0])
        elif method == "test.taken":
            return {"taken": p["messageId"] in self.taken}
        elif method == "test.messages":
            return {"messages": self.sent}
        return {}


class Account:
    def __init__(self, settings, secrets):
        host, _, port = settings.get("server", "").rpartition(":")
        if not port.isdigit():
            raise Failure(1, 'set channels.program.options to ["server=HOST:PORT"]')
        self.at, self.token = (host, int(port)), secrets.get("token", "")
        self.server, self.sending, self.receipts = None, threading.Lock(), {}

    def line(self, word, value):
        with self.sending:
            if self.server is None:
                raise Failure(-1, "not connected")  # nothing was sent: it passes
            self.server.sendall(f"{word} {json.dumps(value)}\n".encode())

    def run(self):
        while True:  # connects again for ever; the gateway is told how it is
            try:
                self.server = socket.create_connection(self.at)
                write({"method": "status", "params": {"state": "receiving", "bot": "lines"}})
                for line in self.server.makefile("r", encoding="utf-8"):
                    word, _, value = line.partition(" ")
                    self.came(word, json.loads(value))
            except OSError as e:
                problem = f"The server {self.at[0]} cannot be reached: {e}. It is tried again."
                write({"method": "status", "params": {"state": "waiting", "problem": problem}})
            self.server = None
            for receipt in list(self.receipts.values()):  # sent, and nobody knows
                receipt[1] = {"why": "broken"}
                receipt[0].set()
            time.sleep(0.2)

    def came(self, word, value):
        if word == "MSG":
            threading.Thread(target=self.take, args=(value,), daemon=True).start()
        elif value.get("key") in self.receipts:
            receipt = self.receipts[value["key"]]
            receipt[1] = value
            receipt[0].set()

    def take(self, m):
        taken = ask("inbound", {"chat": "direct", "conversation": m["from"], "senderId": m["from"], "senderName": m["from"],
                                "messageId": m["id"], "text": m["text"], "atMs": int(time.time() * 1000)})
        self.line("TAKEN" if taken else "AGAIN", {"id": m["id"]})  # only now: the gateway has it

    def send(self, p):
        key = p["key"] + str(time.monotonic_ns())
        self.receipts[key] = receipt = [threading.Event(), None]
        try:
            self.line("SEND", {"key": key, "to": p["to"]["conversation"], "text": p["text"]})
            receipt[0].wait()
        finally:
            del self.receipts[key]
        got = receipt[1]
        if "id" in got:
            return {"messageId": got["id"]}
        if got["why"] == "wait":
            raise Failure(4, "too fast", {"afterMs": got["ms"]})
        raise Failure({"refused": 1, "broken": 2, "auth": 3}.get(got["why"], -1), "the server says " + got["why"])


def main():
    account = test = None

    def answer(message):
        method, params, number = message["method"], message.get("params") or {}, message["id"]
        try:
            write({"id": number, "result": account.send(params) if method == "send" else {}})
        except Failure as e:
            write({"id": number, "error": {"code": e.code, "message": str(e), **({"data": e.data} if e.data else {})}})

    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if method is None:  # an answer to us
            entry = answers.pop(message["id"])
            entry[1] = message
            entry[0].set()
        elif method == "initialize":
            try:
                settings = message["params"]["settings"]
                if message["params"].get("test"):
                    test = TestNetwork()
                    settings = {"server": "127.0.0.1:%d" % test.at.getsockname()[1]}
                account = Account(settings, message["params"]["secrets"])
                limits = {"text": 200}
                write({"id": message["id"], "result": {"protocol": 1, "name": "lines", "version": "1", "limits": limits, "can": [],
                                                       "test": test is not None}})
            except Failure as e:
                write({"id": message["id"], "error": {"code": e.code, "message": str(e)}})
        elif method == "start":
            threading.Thread(target=account.run, daemon=True).start()
            write({"id": message["id"], "result": {}})
        elif method in ("send", "ping", "stop"):
            threading.Thread(target=answer, args=(message,), daemon=True).start()
        elif test and method.startswith("test."):
            write({"id": message["id"], "result": test.play(method, message.get("params") or {})})
        else:
            write({"id": message["id"], "error": {"code": -32601, "message": f"there is no {method} here"}})


main()

#!/usr/bin/env python3
"""A channel for Hearth, whole: the network is a folder of text files.

A file that appears in DIR/in is a message, its name is its id; the sender is what
stands before the first "-". What Hearth sends becomes a file in DIR/out. It is here
to be read and copied: docs/channels/write-your-own.md says what each line is for.
"""
import json
import os
import sys
import threading
import time

output = threading.Lock()
waiting = {}  # our requests that have no answer yet, by id


def write(message):
    with output:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def tell(method, params):
    write({"method": method, "params": params})


def ask(method, params):
    """Asks the gateway and waits; True when it answered without an error."""
    answered = threading.Event()
    number = f"{method}-{time.time_ns()}"
    waiting[number] = (answered, result := {})
    write({"id": number, "method": method, "params": params})
    answered.wait()
    return "error" not in result


class Refused(Exception):
    """Nothing will make the network take this message: code 1."""


class Shelf:
    def __init__(self, params):
        self.dir = params["settings"].get("dir", "")
        if not os.path.isdir(self.dir):
            raise Refused('set channels.program.options to ["dir=/a/folder"]')
        for name in ("in", "out"):
            os.makedirs(os.path.join(self.dir, name), exist_ok=True)

    def send(self, params):
        name = f"{time.time_ns()}-{params['to']['conversation']}.txt"
        if "/" in name:
            raise Refused("a name of a conversation has no /")
        path = os.path.join(self.dir, "out", name)
        with open(path + ".part", "w", encoding="utf-8") as f:
            f.write(params["text"])
        os.replace(path + ".part", path)  # it is there, whole, or not at all
        return {"messageId": name}

    def receive(self):
        folder = os.path.join(self.dir, "in")
        tell("status", {"state": "receiving", "bot": "shelf"})
        while True:
            for name in sorted(os.listdir(folder)):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8", errors="replace") as f:
                    text = f.read(4000)
                sender = name.split("-")[0]
                message = {"chat": "direct", "conversation": sender, "senderId": sender, "senderName": sender,
                           "messageId": name, "text": text, "atMs": int(time.time() * 1000)}
                if ask("inbound", message):
                    os.remove(path)  # only now: the gateway has it
            time.sleep(0.2)


def main():
    shelf = None
    for line in sys.stdin:
        message = json.loads(line)
        if "method" not in message:  # an answer to us
            answered, result = waiting.pop(message["id"])
            result.update(message)
            answered.set()
            continue
        method, params, number = message["method"], message.get("params") or {}, message.get("id")
        result, error = {}, None
        try:
            if method == "initialize":
                shelf = Shelf(params)
                result = {"protocol": 1, "name": "shelf", "version": "1", "limits": {"text": 4000}, "can": []}
            elif method == "start":
                threading.Thread(target=shelf.receive, daemon=True).start()
            elif method == "send":
                result = shelf.send(params)
            elif method not in ("ping", "stop"):
                error = {"code": -32601, "message": f"there is no {method} here"}
        except Refused as e:
            error = {"code": 1, "message": str(e)}
        except OSError as e:
            error = {"code": -32000, "message": str(e)}  # it passes: the gateway tries again
        if number is not None:
            write({"id": number, "error": error} if error else {"id": number, "result": result})


main()

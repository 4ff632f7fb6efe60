"""An adapter for Claude Code, as it may lie in a program: it knows nothing of turnspec."""

import json
import os
import subprocess
import tempfile
import threading
import traceback
import uuid

ARGV = [
    "claude",
    "-p",
    "--verbose",
    "--include-partial-messages",
    *("--input-format", "stream-json"),
    *("--output-format", "stream-json"),
    *("--permission-prompt-tool", "stdio"),
]

LONGEST = 64 << 20  # characters of a line of the runtime; a longer one is skipped


class ClaudeAdapter:
    """Calls methods of its owner, from a thread.

    They are on_begin, on_text, on_call, on_output, on_ask, on_withdraw, on_end and on_exit.
    """

    def __init__(self, owner):
        self.owner = owner
        self.id = str(uuid.uuid4())
        self.message = 0  # of the model
        self.requests = {}  # for permissions, by id
        self.waiting = 0  # messages without a turn
        self.running = False  # whether a turn runs
        self.blocks = set()  # open blocks of text
        self.tools = set()  # that run
        self.seen = set()  # all tools
        self.lock = threading.RLock()

    def start(self, cwd, model, permission_mode):
        """Starts the runtime, and returns when it has replied."""
        options = ["--session-id", self.id, "--permission-mode", permission_mode]
        if model:
            options += ["--model", model]
        log = tempfile.TemporaryFile("w+")
        self.child = subprocess.Popen(
            ARGV + options,
            cwd=cwd,
            env={**os.environ, "CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            encoding="utf-8",
            errors="replace",
        )
        self._request("initialize")
        self.messages = self._messages()
        if not any(m.get("type") == "control_response" for m in self.messages):
            code = self.child.wait()
            log.seek(0)
            raise OSError("claude ended with exit code %d: %s" % (code, log.read()))

    def read(self):
        """Begins to call the owner."""
        threading.Thread(target=self._read_all).start()

    def say(self, text):
        with self.lock:
            self.waiting += 1
            self._write({"type": "user", "message": {"role": "user", "content": text}})

    def decide(self, id, decision, input=None, message="The user said no."):
        request = self.requests.pop(id)
        if decision == "allow":
            answer = {"behavior": "allow", "updatedInput": input or request["input"]}
        else:
            answer = {"behavior": "deny", "message": message, "interrupt": decision == "cancel"}
        self._respond(id, {"subtype": "success", "response": answer})

    def interrupt(self):
        self._request("interrupt")

    def end(self):
        try:
            for id in list(self.requests):
                self.decide(id, "deny")  # nobody will answer any more
            self.child.stdin.close()
        except OSError:
            pass  # the runtime has ended
        for seconds, end in ((3, self.child.terminate), (6, self.child.kill)):
            timer = threading.Timer(seconds, end)
            timer.daemon = True
            timer.start()

    def _write(self, line):
        self.child.stdin.write(json.dumps(line) + "\n")
        self.child.stdin.flush()

    def _request(self, subtype):
        id, request = str(uuid.uuid4()), {"subtype": subtype}
        self._write({"type": "control_request", "request_id": id, "request": request})

    def _respond(self, id, response):
        self._write({"type": "control_response", "response": {"request_id": id, **response}})

    def _messages(self):
        whole = True  # the line before was
        while line := self.child.stdout.readline(LONGEST):
            if whole and len(line) < LONGEST:
                try:
                    m = json.loads(line)
                    if isinstance(m, dict):
                        yield m
                except ValueError:
                    pass  # no message
            elif whole and line.startswith('{"type":"result"'):
                why = "the end of the turn is too long to be read"
                yield {"type": "result", "is_error": True, "result": why}
            whole = line.endswith("\n")

    def _end_turn(self, failed, why, code="unknown"):
        self.running = False
        for open_of_turn in (self.blocks, self.tools, self.requests):
            open_of_turn.clear()
        self.owner.on_end(failed, why, code)

    def _read_all(self):
        for m in self.messages:
            with self.lock:
                try:
                    self._read(m)
                except (AttributeError, KeyError, TypeError):
                    traceback.print_exc()  # a message of another form
        self.end()  # a runtime that has closed its stdout may still run
        exit_code = self.child.wait()
        with self.lock:
            if self.running or self.waiting:
                self._end_turn(True, "the runtime ended", "crash")
            self.owner.on_exit(exit_code)

    def _read(self, m):
        kind, subtype = m["type"], m.get("subtype")
        if subtype == "init":
            if self.running:
                self._end_turn(True, "the runtime began another turn")
            self.running = True
            self.waiting = max(0, self.waiting - 1)
            self.owner.on_begin()
        elif kind == "control_request":
            self._read_request(m["request_id"], m["request"])
        elif kind == "control_cancel_request":
            self.requests.pop(m["request_id"], None)
            self.owner.on_withdraw(m["request_id"])
        elif kind == "result":
            why = "\n".join(m.get("errors", [])) or m.get("result") or subtype
            if self.running:
                self._end_turn(m["is_error"], why)
        elif subtype == "session_state_changed":
            if self.running and m["state"] == "idle":
                self._end_turn(True, "the runtime became idle and sent no result", "protocol")
        elif m.get("parent_tool_use_id"):
            pass  # of a sub-agent
        elif kind == "stream_event":
            self._read_piece(m["event"])
        elif kind in ("assistant", "user") and isinstance(m["message"]["content"], list):
            for block in m["message"]["content"]:
                self._read_block(block)

    def _read_request(self, id, request):
        if request["subtype"] != "can_use_tool":
            self._respond(id, {"subtype": "error", "error": "not supported"})
            return
        if not self.running:  # the user is not asked about a turn that has ended
            late = {"behavior": "deny", "message": "The turn has ended."}
            self._respond(id, {"subtype": "success", "response": late})
            return
        self.requests[id] = request
        self.owner.on_ask(id, request)

    def _read_piece(self, event):
        if event["type"] == "message_start":
            self.message += 1
        elif event["type"] == "content_block_start":
            self.blocks.add(event["index"])
        elif event["type"] == "content_block_stop":
            self.blocks.discard(event["index"])
        elif event.get("delta", {}).get("text") and event["index"] in self.blocks:
            block_id = "%d.%d" % (self.message, event["index"])
            self.owner.on_text(event["delta"]["text"], str(self.message), block_id)

    def _read_block(self, block):
        if block["type"] == "tool_use" and self.running and block["id"] not in self.seen:
            self.seen.add(block["id"])
            self.tools.add(block["id"])
            self.owner.on_call(block)
        elif block["type"] == "tool_result" and block["tool_use_id"] in self.tools:
            self.tools.remove(block["tool_use_id"])
            failed = block.get("is_error", False)
            self.owner.on_output(block["tool_use_id"], text_of(block["content"]), failed)


def text_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(c.get("text", "") for c in content)

"""An adapter for Claude Code, as it may lie in a program: it knows nothing of turnspec."""

import json
import os
import subprocess
import tempfile
import threading
import traceback
import uuid

ARGV = "claude -p --verbose --input-format stream-json --output-format stream-json --include-partial-messages --permission-prompt-tool stdio"

LONGEST = 64 << 20  # characters of a line of the runtime; a longer one is skipped


class ClaudeAdapter:
    """Calls on_begin, on_text, on_call, on_output, on_ask, on_withdraw, on_end and on_exit of its owner, from a thread."""

    def __init__(self, owner):
        self.owner, self.id, self.message, self.requests = owner, str(uuid.uuid4()), 0, {}
        self.waiting, self.running = 0, False  # messages without a turn; whether a turn runs
        self.blocks, self.tools, self.seen = set(), set(), set()  # open blocks of text; tools that run; all tools
        self.lock = threading.RLock()

    def start(self, cwd, model, permission_mode):
        """Starts the runtime, and returns when it has replied."""
        options = ["--session-id", self.id, "--permission-mode", permission_mode] + (["--model", model] if model else [])
        log, env = tempfile.TemporaryFile("w+"), {**os.environ, "CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"}
        self.child = subprocess.Popen([*ARGV.split(), *options], cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, encoding="utf-8", errors="replace")
        self._write({"type": "control_request", "request_id": str(uuid.uuid4()), "request": {"subtype": "initialize"}})
        self.messages = self._messages()
        if not any(m.get("type") == "control_response" for m in self.messages):
            code, _ = self.child.wait(), log.seek(0)
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
        answer = {"behavior": "deny", "message": message, **({"interrupt": True} if decision == "cancel" else {})}
        if decision == "allow":
            answer = {"behavior": "allow", "updatedInput": input or request["input"]}
        self._write({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": answer}})

    def interrupt(self):
        self._write({"type": "control_request", "request_id": str(uuid.uuid4()), "request": {"subtype": "interrupt"}})

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

    def _messages(self):
        whole = True
        while line := self.child.stdout.readline(LONGEST):
            if whole and len(line) < LONGEST:
                try:
                    m = json.loads(line)
                    if isinstance(m, dict):
                        yield m
                except ValueError:
                    pass  # no message
            elif whole and line.startswith('{"type":"result"'):
                yield {"type": "result", "is_error": True, "result": "the end of the turn is too long to be read"}
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
        of_main = not m.get("parent_tool_use_id")
        if m.get("subtype") == "init":
            if self.running:
                self._end_turn(True, "the runtime began another turn")
            self.running, self.waiting = True, max(0, self.waiting - 1)
            self.owner.on_begin()
        elif m["type"] == "stream_event" and of_main:
            e = m["event"]
            self.message += e["type"] == "message_start"
            if e["type"] == "content_block_start":
                self.blocks.add(e["index"])
            elif e["type"] == "content_block_stop":
                self.blocks.discard(e["index"])
            elif e.get("delta", {}).get("text") and e["index"] in self.blocks:
                self.owner.on_text(e["delta"]["text"], str(self.message), "%d.%d" % (self.message, e["index"]))
        elif m["type"] == "control_request" and m["request"]["subtype"] == "can_use_tool":
            self.requests[m["request_id"]] = m["request"]
            self.owner.on_ask(m["request_id"], m["request"])
        elif m["type"] == "control_request":
            self._write({"type": "control_response", "response": {"subtype": "error", "request_id": m["request_id"], "error": "not supported"}})
        elif m["type"] == "control_cancel_request":
            self.requests.pop(m["request_id"], None)
            self.owner.on_withdraw(m["request_id"])
        elif m["type"] == "result":
            if self.running:
                self._end_turn(m["is_error"], "\n".join(m.get("errors", [])) or m.get("result") or m["subtype"])
        elif m.get("subtype") == "session_state_changed":
            if self.running and m["state"] == "idle":
                self._end_turn(True, "the runtime became idle and sent no result", "protocol")
        elif m["type"] in ("assistant", "user") and of_main and isinstance(m["message"]["content"], list):
            for block in m["message"]["content"]:
                if block["type"] == "tool_use" and self.running and block["id"] not in self.seen:
                    self.seen.add(block["id"])
                    self.tools.add(block["id"])
                    self.owner.on_call(block)
                elif block["type"] == "tool_result" and block["tool_use_id"] in self.tools:
                    self.tools.remove(block["tool_use_id"])
                    self.owner.on_output(block["tool_use_id"], text_of(block["content"]), block.get("is_error", False))


def text_of(content):
    return content if isinstance(content, str) else "\n".join(c.get("text", "") for c in content)

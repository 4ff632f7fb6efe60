"""An adapter for Claude Code, as it may lie in a program: it knows nothing of turnspec."""

import json
import subprocess
import threading
import uuid

ARGV = "claude -p --verbose --input-format stream-json --output-format stream-json --include-partial-messages --permission-prompt-tool stdio"


class ClaudeAdapter:
    """Calls on_begin, on_text, on_call, on_output, on_ask, on_withdraw, on_end and on_exit of its owner, from a thread."""

    def __init__(self, owner):
        self.owner, self.id, self.message, self.requests = owner, str(uuid.uuid4()), 0, {}

    def start(self, cwd, model, permission_mode):
        options = ["--session-id", self.id, "--permission-mode", permission_mode] + (["--model", model] if model else [])
        self.child = subprocess.Popen([*ARGV.split(), *options], cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        threading.Thread(target=self._read).start()

    def say(self, text):
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
        for id in list(self.requests):
            self.decide(id, "deny")  # nobody will answer any more
        self.child.stdin.close()

    def _write(self, line):
        self.child.stdin.write(json.dumps(line) + "\n")
        self.child.stdin.flush()

    def _read(self):
        for m in map(json.loads, self.child.stdout):
            of_main = not m.get("parent_tool_use_id")
            if m.get("subtype") == "init":
                self.owner.on_begin()
            elif m["type"] == "stream_event" and of_main:
                e = m["event"]
                self.message += e["type"] == "message_start"
                if e.get("delta", {}).get("text"):
                    self.owner.on_text(e["delta"]["text"], str(self.message), "%d.%d" % (self.message, e["index"]))
            elif m["type"] == "control_request" and m["request"]["subtype"] == "can_use_tool":
                self.requests[m["request_id"]] = m["request"]
                self.owner.on_ask(m["request_id"], m["request"])
            elif m["type"] == "control_cancel_request":
                self.requests.pop(m["request_id"], None)
                self.owner.on_withdraw(m["request_id"])
            elif m["type"] == "result":
                self.owner.on_end(m["is_error"], "\n".join(m.get("errors", [])) or m.get("result") or m["subtype"])
            elif m["type"] in ("assistant", "user") and of_main and isinstance(m["message"]["content"], list):
                for block in m["message"]["content"]:
                    if block["type"] == "tool_use":
                        self.owner.on_call(block)
                    elif block["type"] == "tool_result":
                        self.owner.on_output(block["tool_use_id"], text_of(block["content"]), block.get("is_error", False))
        self.owner.on_exit(self.child.wait())


def text_of(content):
    return content if isinstance(content, str) else "\n".join(c.get("text", "") for c in content)

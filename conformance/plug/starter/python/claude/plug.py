"""Connects the adapter to turnspec: turnspec run --runtime claude --subject 'python3 plug.py'"""

from adapter import ClaudeAdapter
from turnspec_plug import Plug, serve

MODES = {"ask": "default", "accept-edits": "acceptEdits", "plan": "plan", "dont-ask": "dontAsk", "never": "bypassPermissions"}


class Claude(Plug):
    runtime = "claude"
    events = "session_ready turn_start delta tool_start tool_result permission_request permission_resolved error done session_end".split()
    without = ["subagent_id"]
    running = stopped = False

    def open(self, session_id, dir, mode, model=None, **_):
        self.waiting, self.adapter = [], ClaudeAdapter(self)  # waiting: ids of messages whose turn has not begun
        self.adapter.start(dir, model, MODES[mode])
        self.emit("session_ready", session_id=session_id, runtime="claude", provider_session_id=self.adapter.id)

    def send(self, message_id, text, **_):
        self.waiting.append(message_id)
        self.adapter.say(text)

    def answer(self, request_id, decision, input=None, **_):
        tool_name = self.adapter.decide(request_id, decision == "allow", input)
        self.emit("permission_resolved", request_id=request_id, tool_name=tool_name, allowed=decision == "allow", decision=decision, by="user")

    def stop(self):
        self.stopped = self.running
        self.adapter.interrupt()

    def close(self):
        self.adapter.end()

    def on_begin(self):
        self.running, self.stopped = True, False
        self.emit("turn_start", cause="user" if self.waiting else "task", message_ids=[self.waiting.pop(0)] if self.waiting else [])

    def on_text(self, text, message_id, block_id):
        self.emit("delta", text=text, message_id=message_id, block_id=block_id)

    def on_call(self, b):
        self.emit("tool_start", tool_use_id=b["id"], tool=b["name"], input=b["input"], command=b["input"].get("command", ""))

    def on_output(self, tool_use_id, output, is_error):
        self.emit("tool_result", tool_use_id=tool_use_id, output=output, is_error=is_error, status="error" if is_error else "ok")

    def on_ask(self, request_id, r):
        self.emit("permission_request", request_id=request_id, tool_use_id=r["tool_use_id"], tool_name=r["tool_name"], tool_input=r["input"])

    def on_end(self, failed, why):
        self.running = False
        if failed and not self.stopped:
            self.emit("error", code="unknown", message=why)
        else:
            self.emit("done", stopped=self.stopped)

    def on_exit(self, exit_code):
        if self.running or self.waiting:
            self.emit("error", code="crash", message="the runtime ended")
        self.emit("session_end", reason="the runtime ended", exit_code=exit_code)


serve(Claude())

"""The least that can be graded: text. turnspec run --runtime claude --subject 'python3 text.py'"""

from adapter import ClaudeAdapter
from turnspec_plug import Plug, serve


class Claude(Plug):
    runtime = "claude"
    events = ["session_ready", "turn_start", "delta", "error", "done", "session_end"]
    without = ["session_ready." + m for m in ("runtime_version", "model", "cwd", "mode")]
    reason = "the runtime ended"

    def open(self, session_id, dir, model=None, **_):
        self.ids = []  # of messages whose turn has not begun
        self.adapter = ClaudeAdapter(self)
        self.adapter.start(dir, model, "default")
        ready = {"session_id": session_id, "provider_session_id": self.adapter.id}
        self.emit("session_ready", runtime="claude", **ready)
        self.adapter.read()

    def send(self, message_id, text, **_):
        self.ids.append(message_id)
        self.adapter.say(text)

    def close(self):
        self.reason = "closed"
        self.adapter.end()

    def on_begin(self):
        self.emit("turn_start", cause="user", message_ids=self.ids[:1])
        del self.ids[:1]

    def on_text(self, text, message_id, block_id):
        self.emit("delta", text=text, message_id=message_id, block_id=block_id)

    def on_call(self, *_):
        pass

    on_output = on_ask = on_withdraw = on_call

    def on_end(self, failed, why, code):
        if failed:
            self.emit("error", code=code, message=why)
        else:
            self.emit("done")

    def on_exit(self, exit_code):
        end = {"exit_code": exit_code} if exit_code >= 0 else {}
        self.emit("session_end", reason=self.reason, **end)


serve(Claude())

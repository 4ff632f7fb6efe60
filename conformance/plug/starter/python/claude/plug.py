"""Connects the adapter to turnspec: turnspec run --runtime claude --subject 'python3 plug.py'"""

from adapter import ClaudeAdapter
from turnspec_plug import Plug, serve

MODES = {
    "ask": "default",
    "accept-edits": "acceptEdits",
    "plan": "plan",
    "dont-ask": "dontAsk",
    "never": "bypassPermissions",
}


class Claude(Plug):
    runtime = "claude"
    # The types of events that the adapter emits. A check that needs another is not expressible.
    events = [
        "session_ready",
        "turn_start",
        "delta",
        "tool_start",
        "tool_result",
        "permission_request",
        "permission_resolved",
        "error",
        "done",
        "session_end",
    ]
    # The members that these events lack.
    without = [
        "session_ready.runtime_version",
        "session_ready.model",
        "session_ready.cwd",
        "session_ready.mode",
        "done.reason",
        "subagent_id",
        "tool_start.file_path",
        "tool_start.pattern",
        "tool_start.search_path",
        "tool_start.background",
        "tool_start.is_file_read",
        "tool_start.subagent_spawn",
        "tool_start.subagent_name",
        "tool_start.message_id",
        "permission_request.options",
        "tool_result.changes",
    ]
    running = False
    stopped = False
    closed = False

    def open(self, session_id, dir, mode, model=None, **_):
        self.waiting = []  # ids of messages whose turn has not begun
        self.tools = []  # ids of tools that run
        self.questions = {}  # names of tools that wait for a permission, by the request's id
        self.adapter = ClaudeAdapter(self)
        self.adapter.start(dir, model, MODES[mode])
        self.emit(
            "session_ready",
            session_id=session_id,
            runtime="claude",
            provider_session_id=self.adapter.id,
        )
        self.adapter.read()

    def send(self, message_id, text, **_):
        self.waiting.append(message_id)
        self.adapter.say(text)

    def answer(self, request_id, decision, input=None, message="The user said no.", **_):
        self.stopped |= decision == "cancel"
        self.adapter.decide(request_id, decision, input, message)
        self.resolve(request_id, decision, "user")

    def resolve(self, request_id, decision, by):
        tool_name = self.questions.pop(request_id, None)
        if tool_name:
            self.emit(
                "permission_resolved",
                request_id=request_id,
                tool_name=tool_name,
                allowed=decision == "allow",
                decision=decision,
                by=by,
            )

    def stop(self):
        self.stopped = self.running
        self.adapter.interrupt()

    def close(self):
        self.closed = True
        self.adapter.end()

    def on_begin(self):
        self.running, self.stopped = True, False
        if self.waiting:
            self.emit("turn_start", cause="user", message_ids=[self.waiting.pop(0)])
        else:
            self.emit("turn_start", cause="task", message_ids=[])

    def on_text(self, text, message_id, block_id):
        self.emit("delta", text=text, message_id=message_id, block_id=block_id)

    def on_call(self, block):
        self.tools.append(block["id"])
        self.emit(
            "tool_start",
            tool_use_id=block["id"],
            tool=block["name"],
            input=block["input"],
            command=block["input"].get("command", ""),
        )

    def on_output(self, tool_use_id, output, is_error):
        self.tools.remove(tool_use_id)
        status = "ok"
        if is_error:
            status = "interrupted" if self.stopped else "error"
        self.end_tool(tool_use_id, output, is_error, status)

    def end_tool(self, tool_use_id, output, is_error, status):
        self.emit(
            "tool_result",
            tool_use_id=tool_use_id,
            output=output,
            is_error=is_error,
            status=status,
        )

    def on_withdraw(self, request_id):
        self.resolve(request_id, "cancel", "withdrawn")

    def on_ask(self, request_id, request):
        self.questions[request_id] = request["tool_name"]
        self.emit(
            "permission_request",
            request_id=request_id,
            tool_use_id=request["tool_use_id"],
            tool_name=request["tool_name"],
            tool_input=request["input"],
        )

    def end_turn(self):
        for request_id in list(self.questions):
            self.resolve(request_id, "cancel", "runtime")
        while self.tools:
            self.end_tool(self.tools.pop(), "", True, "interrupted")

    def on_end(self, failed, why, code):
        self.end_turn()
        self.running = False
        if code == "crash" or (failed and not self.stopped):
            self.emit("error", code=code, message=why)
        else:
            self.emit("done", stopped=self.stopped)

    def on_exit(self, exit_code):
        end = {"reason": "closed" if self.closed else "the runtime ended"}
        if exit_code >= 0:
            end["exit_code"] = exit_code
        self.emit("session_end", **end)


serve(Claude())

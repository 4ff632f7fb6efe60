"""Connects the client to turnspec: turnspec run --runtime codex --subject 'python3 plug.py'"""

import asyncio
import functools
import shlex

from adapter import CodexClient, RequestError
from turnspec_plug import Plug, PlugError, serve

# The approval policy and the sandbox of each mode.
MODES = {
    "ask": ("untrusted", "workspace-write"),
    "accept-edits": ("on-request", "workspace-write"),
    "read-only": ("on-request", "read-only"),
    "dont-ask": ("never", "read-only"),
    "never": ("never", "danger-full-access"),
}

# The requests for a permission, and the tools that they are about.
APPROVALS = {
    "item/commandExecution/requestApproval": "Bash",
    "item/fileChange/requestApproval": "Edit",
    "item/permissions/requestApproval": "request_permissions",
}


class Codex(Plug):
    runtime = "codex"
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
        "subagent_id",
        "error.code",
        "tool_start.pattern",
        "tool_start.search_path",
        "tool_start.is_file_read",
        "tool_start.subagent_spawn",
        "tool_start.subagent_name",
        "permission_request.options",
        "tool_result.changes",
    ]

    def __init__(self):
        self.client = CodexClient(self)
        self.ready = False  # session_ready was emitted
        self.closed = False
        self.exited = None  # the exit code of a runtime that ended before
        self.turn = None  # the runtime's id of the turn
        self.running = False
        self.stopped = False
        self.waiting = []  # ids of messages without a turn
        self.tools = {}  # that run, by id
        self.blocks = set()  # open blocks of text
        self.asked = {}  # requests for permissions without an answer, by id
        self.ended = set()  # ids of turns, tools and blocks that ended

    # The commands. Those that wait for the runtime do so in a thread, because the next one may
    # come meanwhile.

    async def open(self, session_id, dir, mode, model=None, **_):
        if mode not in MODES:
            raise PlugError("unsupported", "the mode " + mode)
        await in_thread(self.client.start, dir, model, *MODES[mode])
        with self.client.lock:
            self.emit(
                "session_ready",
                session_id=session_id,
                runtime="codex",
                provider_session_id=self.client.thread,
            )
            self.ready = True
            if self.exited is not None:
                self.on_exit(self.exited)

    async def send(self, message_id, text, **_):
        with self.client.lock:
            if self.running or self.waiting:
                raise PlugError("unsupported", "a message while a turn runs")
            self.waiting.append(message_id)
        message = [{"type": "text", "text": text}]
        try:
            await self.request("turn/start", input=message, clientUserMessageId=message_id)
        except PlugError:
            with self.client.lock:
                if message_id in self.waiting:
                    self.waiting.remove(message_id)
            raise

    async def stop(self):
        if self.running:
            self.stopped = True
            await self.request("turn/interrupt", turnId=self.turn)

    def answer(self, request_id, decision, scope=None, **_):
        if scope is not None:
            raise PlugError("unsupported", "an answer for longer than this call")
        with self.client.lock:
            if request_id not in self.asked:
                raise PlugError("unknown_id", "there is no request " + request_id)
            self.stopped = self.stopped or decision == "cancel"
            self.decide(request_id, decision, "user")

    def close(self):
        self.closed = True
        with self.client.lock:
            for m in self.asked.values():
                self.respond(m, "cancel")
        self.client.end()

    async def request(self, method, **params):
        """Sends a request about the session."""
        try:
            await in_thread(self.client.request, method, threadId=self.client.thread, **params)
        except RequestError as err:
            raise PlugError("refused", str(err))
        except (OSError, ValueError) as err:
            raise PlugError("closed", str(err))

    # Permissions.

    def respond(self, m, decision):
        """Answers a request of the runtime for a permission."""
        if APPROVALS[m["method"]] == "request_permissions":
            granted = m["params"]["permissions"] if decision == "allow" else {}
            self.client.respond(m["id"], result={"permissions": granted, "scope": "turn"})
            return
        word = {"allow": "accept", "deny": "decline", "cancel": "cancel"}[decision]
        self.client.respond(m["id"], result={"decision": word})

    def decide(self, request_id, decision, by):
        m = self.asked.pop(request_id)
        if by == "user":
            self.respond(m, decision)
        tool = self.tools.get(m["params"]["itemId"])
        if tool and decision != "allow":
            tool["status"] = "denied" if by == "user" else "interrupted"
        self.emit(
            "permission_resolved",
            request_id=request_id,
            tool_name=APPROVALS[m["method"]],
            allowed=decision == "allow",
            decision=decision,
            by=by,
        )

    def withdraw(self, thread):
        """Resolves what a thread has asked, because its turn has ended."""
        for request_id, m in list(self.asked.items()):
            if m["params"]["threadId"] == thread:
                self.decide(request_id, "cancel", "runtime")

    def on_ask(self, m):
        if m["method"] not in APPROVALS:
            self.client.respond(m["id"], error={"code": -32601, "message": "not supported"})
            return
        p = m["params"]
        of_main = p["threadId"] == self.client.thread
        in_turn = self.running and p["turnId"] == self.turn
        if (p["threadId"], p["turnId"]) in self.ended or of_main and not in_turn:
            self.respond(m, "cancel")  # it is late
            return
        if p.get("command") and of_main:  # older versions ask before the tool starts
            item = {"type": "commandExecution", "id": p["itemId"], "command": p["command"]}
            self.start_tool(item)
        tool = self.tools.get(p["itemId"])
        if "permissions" in p:
            tool_input = {"permissions": p["permissions"]}
        elif tool:
            tool_input = tool["input"]
        else:
            tool_input = {"command": unwrap(p.get("command") or "")}
        request_id = "q%s" % m["id"]
        self.asked[request_id] = m
        self.emit(
            "permission_request",
            request_id=request_id,
            tool_use_id=p["itemId"],
            tool_name=APPROVALS[m["method"]],
            tool_input=tool_input,
        )

    # Tools.

    def start_tool(self, item):
        tool = describe(item)
        if tool is None or item["id"] in self.tools or item["id"] in self.ended:
            return
        name, tool_input, shown = tool
        self.tools[item["id"]] = {"status": "ok", "input": tool_input}
        self.emit("tool_start", tool_use_id=item["id"], tool=name, input=tool_input, **shown)

    def end_tool(self, id, output, is_error, status, **more):
        del self.tools[id]
        self.ended.add(id)
        self.emit(
            "tool_result", tool_use_id=id, output=output, is_error=is_error, status=status, **more
        )

    def complete_tool(self, item):
        result, error = item.get("result") or {}, item.get("error") or {}
        output = (
            item.get("aggregatedOutput")
            or error.get("message")
            or text_of(result.get("content"))
            or item.get("query")
            or ""
        )
        failed = item.get("status") in ("failed", "declined") or bool(result.get("isError"))
        status = self.tools[item["id"]]["status"]
        if status == "ok" and failed:
            status = "interrupted" if self.stopped else "error"
        more = {}
        if item.get("exitCode") is not None:
            more["exit_code"] = item["exitCode"]
        self.end_tool(item["id"], output, failed, status, **more)

    # The turn.

    def end_turn(self, type, **data):
        self.withdraw(self.client.thread)
        for id in list(self.tools):
            self.end_tool(id, "", True, "interrupted")
        self.ended.update(self.blocks, [(self.client.thread, self.turn)])  # the rest is late
        self.blocks.clear()
        self.running = False
        self.emit(type, **data)

    def begin_turn(self, id):
        if self.running:
            self.end_turn("error", message="the runtime began another turn", code="unknown")
        self.turn, self.running, self.stopped = id, True, False
        cause = "user" if self.waiting else "task"
        self.emit("turn_start", cause=cause, message_ids=self.waiting[:1], provider_turn_id=id)
        del self.waiting[:1]

    def complete(self, item):
        id = item["id"]
        if item["type"] in ("agentMessage", "plan") and id not in self.ended:
            if id not in self.blocks and item["text"]:
                self.emit("delta", text=item["text"], message_id=id, block_id=id)
            self.ended.add(id)
            self.blocks.discard(id)
        self.start_tool(item)
        if id in self.tools:
            self.complete_tool(item)

    # What the client calls.

    def on_message(self, m):
        method, p = m["method"], m.get("params", {})
        if "id" in m:
            self.on_ask(m)
            return
        thread, turn = p.get("threadId"), p.get("turnId") or p.get("turn", {}).get("id")
        if method == "serverRequest/resolved":
            request_id = "q%s" % p["requestId"]
            if request_id in self.asked:
                self.decide(request_id, "cancel", "withdrawn")
        elif thread != self.client.thread:  # of a sub-agent, or of the connection
            if method == "turn/completed":
                self.ended.add((thread, turn))
                self.withdraw(thread)
        elif method == "turn/started":
            if (thread, turn) not in self.ended and not (self.running and turn == self.turn):
                self.begin_turn(turn)
        elif self.running and turn == self.turn:  # else it is late
            self.on_turn(method, p)

    def on_turn(self, method, p):
        if method == "item/agentMessage/delta" and p["itemId"] not in self.ended:
            self.blocks.add(p["itemId"])
            self.emit("delta", text=p["delta"], message_id=p["itemId"], block_id=p["itemId"])
        elif method == "item/started":
            self.start_tool(p["item"])
        elif method == "item/completed":
            self.complete(p["item"])
        elif method == "turn/completed" and p["turn"]["status"] == "failed":
            self.end_turn("error", message=p["turn"]["error"]["message"], code="unknown")
        elif method == "turn/completed":
            self.stopped = self.stopped or p["turn"]["status"] == "interrupted"
            self.end_turn("done", stopped=self.stopped)

    def on_long_end(self):
        why = "the end of the turn is too long to be read"
        self.end_turn("error", message=why, code="protocol")

    def on_exit(self, exit_code):
        if not self.ready:
            self.exited = exit_code  # open reports it
            return
        if self.running or self.waiting:
            self.end_turn("error", message="the runtime ended", code="crash")
        end = {"exit_code": exit_code} if exit_code >= 0 else {}
        self.emit("session_end", reason="closed" if self.closed else "the runtime ended", **end)


async def in_thread(function, *args, **options):
    call = functools.partial(function, *args, **options)
    return await asyncio.get_running_loop().run_in_executor(None, call)


def unwrap(command):
    """Returns the command that the runtime has wrapped in a shell: /bin/bash -lc 'ls'."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else command


def describe(item):
    """Returns the tool of an item, its input, and what is shown of it; None if it is no tool."""
    kind = item["type"]
    if kind == "commandExecution":
        command = {"command": unwrap(item["command"])}
        return "Bash", command, command
    if kind == "fileChange":
        changes = item["changes"]
        return "Edit", {"changes": changes}, {"file_path": changes[0]["path"]} if changes else {}
    if kind == "mcpToolCall":
        return "mcp__%s__%s" % (item["server"], item["tool"]), item["arguments"], {}
    if kind == "webSearch":  # what it does is known when it has ended
        url = (item.get("action") or {}).get("url")
        if url:
            return "WebFetch", {"url": url}, {"url": url}
        query = {"query": item["query"]}
        return ("WebSearch", query, query) if item["query"] else None
    if kind == "imageView":
        path = {"file_path": item["path"]}
        return "Read", path, path
    if kind == "collabAgentToolCall":
        return item["tool"], {"prompt": item.get("prompt") or ""}, {}
    if kind == "subAgentActivity" and item["kind"] == "started":
        return "spawn_agent", {}, {}
    if kind == "subAgentActivity" and item["kind"] == "interacted":
        return "followup_task", {}, {}
    return None


def text_of(parts):
    return "\n".join(p.get("text", "") for p in parts or [])


serve(Codex())

"""A small adapter for Claude Code, as a subject of turnspec: text, tools and permissions."""
import json, subprocess, sys, threading, uuid  # noqa: E401
ARGV = "claude -p --verbose --input-format stream-json --output-format stream-json --include-partial-messages --permission-prompt-tool stdio"
MODES = {"ask": "default", "accept-edits": "acceptEdits", "plan": "plan", "dont-ask": "dontAsk", "never": "bypassPermissions"}
turn, message, running, waiting, asked = 0, 0, False, [], {}

def write(to, **line):
    print(json.dumps(line) + "\n", end="", file=to, flush=True)

def emit(type, **data):
    write(sys.stdout, event={"type": type, "data": data, **({"turn": turn} if running and type != "session_end" else {})})

def read():
    global turn, message, running
    for m in map(json.loads, runtime.stdout):
        kind, child = m.get("subtype") or m["type"], m.get("parent_tool_use_id")
        if kind == "init":
            turn, running = turn + 1, True
            emit("turn_start", cause="user" if waiting else "task", message_ids=[waiting.pop(0)] if waiting else [])
        elif kind == "stream_event" and not child:
            message += m["event"]["type"] == "message_start"
            if text := m["event"].get("delta", {}).get("text"):
                emit("delta", text=text, message_id=str(message), block_id=f"{message}.{m['event']['index']}")
        elif kind in ("assistant", "user") and not child:
            for b in filter(lambda b: isinstance(b, dict), m["message"]["content"]):
                if b["type"] == "tool_use":
                    shown = {"command": b["input"].get("command", ""), "file_path": b["input"].get("file_path", ""), "background": b["input"].get("run_in_background", False)}
                    emit("tool_start", tool_use_id=b["id"], tool=b["name"], input=b["input"], **shown)
                elif b["type"] == "tool_result":
                    output = b["content"] if isinstance(b["content"], str) else "\n".join(c.get("text", "") for c in b["content"])
                    emit("tool_result", tool_use_id=b["tool_use_id"], output=output, is_error=b.get("is_error", False), status="error" if b.get("is_error") else "ok")
        elif kind == "control_request" and m["request"]["subtype"] == "can_use_tool":
            id, r = m["request_id"], asked.setdefault(m["request_id"], m["request"])
            emit("permission_request", request_id=id, tool_use_id=r["tool_use_id"], tool_name=r["tool_name"], tool_input=r["input"])
        elif m["type"] == "result":
            stopped = "aborted" in m.get("terminal_reason", "")
            failed = m["is_error"] and not stopped
            emit("error", message=m.get("result") or "; ".join(m.get("errors", [kind])), code="unknown") if failed else emit("done", stopped=stopped)
            running = False
    if running or waiting:
        emit("error", message="the runtime ended", code="crash")
    emit("session_end", reason="the runtime ended", exit_code=runtime.wait())

EVENTS = "session_ready turn_start delta tool_start tool_result permission_request permission_resolved error done session_end".split()
WITHOUT = ["subagent_id", "error.code", "tool_start.pattern", "tool_start.search_path", "tool_start.is_file_read", "tool_result.changes"]
write(sys.stdout, hello={"protocol": 1, "runtime": "claude", "can": ["answer"], "events": EVENTS, "without": WITHOUT})
for c in map(json.loads, sys.stdin):
    if c["do"] == "open":
        argv = [*ARGV.split(), "--session-id", id := str(uuid.uuid4()), "--permission-mode", MODES[c["mode"]], *(["--model", c["model"]] if "model" in c else [])]
        runtime = subprocess.Popen(argv, cwd=c["dir"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        emit("session_ready", session_id=c["session_id"], runtime="claude", provider_session_id=id)
        threading.Thread(target=read).start()
    elif c["do"] == "send":
        waiting.append(c["message_id"])
        write(runtime.stdin, type="user", message={"role": "user", "content": c["text"]})
    elif c["do"] == "answer" and "scope" in c:
        write(sys.stdout, reply={"id": c["id"], "error": {"code": "unsupported", "message": "an answer for longer than this call"}})
        continue
    elif c["do"] == "answer":
        id, r, yes = c["request_id"], asked[c["request_id"]], c["decision"] == "allow"
        emit("permission_resolved", request_id=id, tool_name=r["tool_name"], allowed=yes, decision=c["decision"], by="user")
        no = {"behavior": "deny", "message": "The user said no.", "interrupt": c["decision"] == "cancel"}
        said = {"behavior": "allow", "updatedInput": c.get("input", r["input"])} if yes else no
        write(runtime.stdin, type="control_response", response={"subtype": "success", "request_id": id, "response": said})
    elif c["do"] == "close":
        runtime.stdin.close()
    write(sys.stdout, reply={"id": c["id"]})

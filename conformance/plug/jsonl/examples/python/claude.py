"""A small adapter for Claude Code, as a subject of turnspec: text, tools, permissions and stop."""
import json, os, signal, subprocess, sys, tempfile, threading, traceback, uuid  # noqa: E401
ARGV = "claude -p --verbose --input-format stream-json --output-format stream-json --include-partial-messages --permission-prompt-tool stdio"
MODES = {"ask": "default", "accept-edits": "acceptEdits", "dont-ask": "dontAsk", "never": "bypassPermissions"}
LONGEST = 64 << 20  # characters of a line of the runtime; a longer one is skipped
turn, message, running, stopped, closed = 0, 0, False, False, False
waiting, tools, blocks, asked = [], [], set(), {}  # messages without a turn; tools that run; open blocks; questions without an answer
seen, lock = set(), threading.RLock()  # seen: ids of all tools, and of what was asked about

def write(to, **line):
    to.write(json.dumps(line) + "\n")
    to.flush()

def emit(type, **data):
    write(sys.stdout, event={"type": type, "data": data, **({"turn": turn} if running and type != "session_end" else {})})

def respond(id, **response):
    try:
        write(runtime.stdin, type="control_response", response={"request_id": id, **response})
    except (OSError, ValueError):
        pass  # the runtime has ended, or the session is closed

def decide(id, decision, by, input=None, message="The user said no.", reply=True):
    r, yes = asked.pop(id), decision == "allow"
    if reply:
        no = {"behavior": "deny", "message": message, "interrupt": decision == "cancel"}
        respond(id, subtype="success", response={"behavior": "allow", "updatedInput": input or r["input"]} if yes else no)
    emit("permission_resolved", request_id=id, tool_name=r["tool_name"], allowed=yes, decision=decision, by=by)

def end_turn(type, **data):
    global running
    for id in list(asked):
        decide(id, "cancel", "runtime", reply=False)
    while tools:
        emit("tool_result", tool_use_id=tools.pop(), output="", is_error=True, status="interrupted")
    blocks.clear()
    emit(type, **data)
    running = False

def lines():
    whole = True
    while line := runtime.stdout.readline(LONGEST):
        if whole and len(line) < LONGEST:
            try:
                yield json.loads(line)
            except ValueError:
                pass  # no message
        elif whole and line.startswith('{"type":"result"'):
            yield {"type": "result", "is_error": True, "result": "the end of the turn is too long to be read"}
        whole = line.endswith("\n")

def askable(r):  # a sub-agent may ask after the turn
    beside = "agent_id" in r and "asked " + r["tool_use_id"] not in seen
    return (running or beside) and r["tool_name"] not in ("AskUserQuestion", "ExitPlanMode")

def translate(m):
    global turn, message, running, stopped
    kind, child = m.get("subtype") or m["type"], m.get("parent_tool_use_id")
    if kind == "init":
        if running:
            end_turn("error", message="the runtime began another turn", code="unknown")
        turn, running, stopped = turn + 1, True, False
        emit("turn_start", cause="user" if waiting else "task", message_ids=[waiting.pop(0)] if waiting else [])
    elif kind == "stream_event" and not child:
        e = m["event"]
        message += e["type"] == "message_start"
        if e["type"] == "content_block_start":
            blocks.add(e["index"])
        elif e["type"] == "content_block_stop":
            blocks.discard(e["index"])
        elif e.get("delta", {}).get("text") and e["index"] in blocks:
            emit("delta", text=e["delta"]["text"], message_id=str(message), block_id=f"{message}.{e['index']}")
    elif kind in ("assistant", "user") and not child:
        for b in filter(lambda b: isinstance(b, dict), m["message"]["content"]):
            if b["type"] == "tool_use" and running and b["id"] not in seen:
                tools.append(b["id"])
                seen.add(b["id"])
                shown = {"command": b["input"].get("command", ""), "file_path": b["input"].get("file_path", ""), "background": b["input"].get("run_in_background", False)}
                emit("tool_start", tool_use_id=b["id"], tool=b["name"], input=b["input"], **shown)
            elif b["type"] == "tool_result" and b["tool_use_id"] in tools:
                tools.remove(b["tool_use_id"])
                output = b["content"] if isinstance(b["content"], str) else "\n".join(c.get("text", "") for c in b["content"])
                failed = b.get("is_error", False)
                emit("tool_result", tool_use_id=b["tool_use_id"], output=output, is_error=failed, status=("interrupted" if stopped else "error") if failed else "ok")
    elif kind == "control_request" and m["request"]["subtype"] != "can_use_tool":
        respond(m["request_id"], subtype="error", error="not supported")
    elif kind == "control_request" and not askable(m["request"]):
        respond(m["request_id"], subtype="success", response={"behavior": "deny", "message": "The user cannot be asked."})
    elif kind == "control_request":
        r = asked[m["request_id"]] = m["request"]
        seen.add("asked " + r["tool_use_id"])
        emit("permission_request", request_id=m["request_id"], tool_use_id=r["tool_use_id"], tool_name=r["tool_name"], tool_input=r["input"])
    elif kind == "control_cancel_request" and m["request_id"] in asked:
        decide(m["request_id"], "cancel", "withdrawn", reply=False)
    elif kind == "session_state_changed" and m["state"] == "idle" and running:
        end_turn("error", message="the runtime became idle and sent no result", code="protocol")
    elif m["type"] == "result" and running:
        stopped = stopped or "aborted" in m.get("terminal_reason", "")
        failed = m["is_error"] and not stopped
        end_turn("error", message=m.get("result") or "; ".join(m.get("errors", [kind])), code="unknown") if failed else end_turn("done", stopped=stopped)

def read(messages):
    for m in messages:
        with lock:
            try:
                translate(m)
            except (AttributeError, KeyError, TypeError):
                traceback.print_exc()  # a message of another form
    code = runtime.wait()
    with lock:
        if running or waiting:
            end_turn("error", message="the runtime ended", code="crash")
        emit("session_end", reason="closed" if closed else "the runtime ended", **({"exit_code": code} if code >= 0 else {}))

def do(c):
    global runtime, stopped, closed
    if c["do"] == "open":
        if c["mode"] not in MODES:
            raise NotImplementedError("the mode " + c["mode"])
        argv = [*ARGV.split(), "--session-id", id := str(uuid.uuid4()), "--permission-mode", MODES[c["mode"]], *(["--model", c["model"]] if "model" in c else [])]
        log = tempfile.TemporaryFile("w+")
        env = {**os.environ, "CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"}  # it reports when it becomes idle
        runtime = subprocess.Popen(argv, cwd=c["dir"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, encoding="utf-8", errors="replace")
        write(runtime.stdin, type="control_request", request_id=str(uuid.uuid4()), request={"subtype": "initialize"})
        messages = lines()
        if not any(isinstance(m, dict) and m.get("type") == "control_response" for m in messages):
            code, _ = runtime.wait(), log.seek(0)
            raise OSError(f"claude ended with exit code {code}: {log.read()}")
        emit("session_ready", session_id=c["session_id"], runtime="claude", provider_session_id=id)
        threading.Thread(target=read, args=[messages]).start()
    elif c["do"] == "send":
        waiting.append(c["message_id"])
        write(runtime.stdin, type="user", message={"role": "user", "content": c["text"]})
    elif c["do"] == "answer":
        if "scope" in c:
            raise NotImplementedError("an answer for longer than this call")
        stopped = stopped or c["decision"] == "cancel"
        decide(c["request_id"], c["decision"], "user", c.get("input"), c.get("message", "The user said no."))
    elif c["do"] == "stop":
        stopped = running
        write(runtime.stdin, type="control_request", request_id=str(uuid.uuid4()), request={"subtype": "interrupt"})
    elif c["do"] == "close":
        closed = True
        for id in list(asked):
            respond(id, subtype="success", response={"behavior": "deny", "message": "The session was closed."})
        runtime.stdin.close()
        for seconds, end in ((3, runtime.terminate), (6, runtime.kill)):
            (timer := threading.Timer(seconds, end)).daemon = True
            timer.start()

EVENTS = "session_ready turn_start delta tool_start tool_result permission_request permission_resolved error done session_end".split()
WITHOUT = "session_ready.runtime_version session_ready.model session_ready.cwd session_ready.mode done.reason subagent_id error.code tool_start.pattern tool_start.search_path tool_start.is_file_read tool_start.subagent_spawn tool_start.subagent_name tool_start.message_id tool_result.changes permission_request.options".split()
write(sys.stdout, hello={"protocol": 1, "runtime": "claude", "can": ["answer", "stop"], "events": EVENTS, "without": WITHOUT})
signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends the threads too, and the runtime with its pipes
for c in map(json.loads, sys.stdin):
    reply = {"id": c["id"]}
    with lock:
        try:
            do(c)
        except NotImplementedError as err:
            reply["error"] = {"code": "unsupported", "message": str(err)}
        except (OSError, KeyError, ValueError) as err:
            reply["error"] = {"code": "start_failure" if c["do"] == "open" else "closed" if isinstance(err, OSError) else "unknown_id", "message": str(err)}
        write(sys.stdout, reply=reply)

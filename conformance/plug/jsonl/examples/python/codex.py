"""A small adapter for Codex (codex app-server), as a subject of turnspec: text, tools, permissions and stop."""
import itertools, json, queue, shlex, signal, subprocess, sys, tempfile, threading, traceback  # noqa: E401
MODES = {"ask": ("untrusted", "workspace-write"), "accept-edits": ("on-request", "workspace-write"), "read-only": ("on-request", "read-only"),
         "dont-ask": ("never", "read-only"), "never": ("never", "danger-full-access")}  # fmt: skip
APPROVALS = {"item/commandExecution/requestApproval": "Bash", "item/fileChange/requestApproval": "Edit", "item/permissions/requestApproval": "request_permissions"}
LONGEST = 64 << 20  # characters of a line of the runtime; a longer one is skipped
PATIENCE = 10  # seconds that a call waits for the reply of the runtime
turn, current, running, stopped = 0, None, False, False  # current is the runtime's id of the turn
waiting, tools, blocks, asked = [], {}, set(), {}  # messages without a turn; tools that run; blocks of text; questions without an answer
ended, replies, ids = set(), {}, itertools.count(1)  # ids of turns, tools and blocks that ended; calls without a reply
lock, thread, closed = threading.RLock(), None, False

def write(to, line):
    to.write(json.dumps(line) + "\n")
    to.flush()

def emit(type, **data):
    write(sys.stdout, {"event": {"type": type, "data": data, **({"turn": turn} if running and type != "session_end" else {})}})

def request(method, **params):
    id, reply = next(ids), queue.Queue()
    replies[id] = reply
    with lock:
        write(runtime.stdin, {"id": id, "method": method, "params": params})
    try:
        m = reply.get(timeout=PATIENCE)
    except queue.Empty:
        raise TimeoutError("no reply to " + method)
    if m is None:
        raise BrokenPipeError("the runtime has ended")
    if "error" in m:
        raise ValueError(m["error"]["message"])
    return m["result"]

def respond(id, **response):
    try:
        write(runtime.stdin, {"id": id, **response})
    except (OSError, ValueError):
        pass  # the runtime has ended, or the session is closed

def answer(m, decision):
    if APPROVALS[m["method"]] == "request_permissions":
        return respond(m["id"], result={"permissions": m["params"]["permissions"] if decision == "allow" else {}, "scope": "turn"})
    respond(m["id"], result={"decision": {"allow": "accept", "deny": "decline", "cancel": "cancel"}[decision]})

def decide(id, decision, by):
    r = asked.pop(id)
    if by == "user":
        answer(r, decision)
    if decision != "allow" and r["params"]["itemId"] in tools:
        tools[r["params"]["itemId"]]["status"] = "denied" if by == "user" else "interrupted"
    emit("permission_resolved", request_id=id, tool_name=APPROVALS[r["method"]], allowed=decision == "allow", decision=decision, by=by)

def withdraw(of):  # what a thread has asked, because its turn has ended
    for id in [id for id, m in asked.items() if m["params"]["threadId"] == of]:
        decide(id, "cancel", "runtime")

def end_turn(type, **data):
    global running
    withdraw(thread)
    for id in list(tools):
        end_tool(id, "", True, "interrupted")
    ended.update(blocks, [(thread, current)])  # what comes later is late
    blocks.clear()
    emit(type, **data)
    running = False

def unwrap(command):  # the runtime wraps a command in a shell: /bin/bash -lc 'ls'
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else command

def describe(item):  # the tool of an item, its input, and what is shown of it; None: it is no tool
    kind = item["type"]
    if kind == "commandExecution":
        return "Bash", {"command": unwrap(item["command"])}, {"command": unwrap(item["command"])}
    if kind == "fileChange":
        return "Edit", {"changes": item["changes"]}, {"file_path": item["changes"][0]["path"]} if item["changes"] else {}
    if kind == "mcpToolCall":
        return f"mcp__{item['server']}__{item['tool']}", item["arguments"], {}
    if kind == "webSearch":  # what it does is known when it has ended
        action = item.get("action") or {}
        if action.get("url"):
            return "WebFetch", {"url": action["url"]}, {"url": action["url"]}
        return ("WebSearch", {"query": item["query"]}, {"query": item["query"]}) if item["query"] else None
    if kind == "imageView":
        return "Read", {"file_path": item["path"]}, {"file_path": item["path"]}
    if kind == "collabAgentToolCall":
        return item["tool"], {"prompt": item.get("prompt") or ""}, {}
    if kind == "subAgentActivity" and item["kind"] in ("started", "interacted"):
        return "spawn_agent" if item["kind"] == "started" else "followup_task", {}, {}

def text_of(parts):
    return "\n".join(p.get("text", "") for p in parts or [])

def start_tool(item):
    tool = describe(item)
    if tool and item["id"] not in tools and item["id"] not in ended:
        tools[item["id"]] = {"status": "ok", "input": tool[1]}
        emit("tool_start", tool_use_id=item["id"], tool=tool[0], input=tool[1], **tool[2])

def end_tool(id, output, failed, status, **more):
    del tools[id]
    ended.add(id)
    emit("tool_result", tool_use_id=id, output=output, is_error=failed, status=status, **more)

def complete(item):
    id = item["id"]
    if item["type"] in ("agentMessage", "plan") and id not in ended:
        if id not in blocks and item["text"]:
            emit("delta", text=item["text"], message_id=id, block_id=id)
        ended.add(id)
        blocks.discard(id)
    start_tool(item)
    if id in tools:
        result, error = item.get("result") or {}, item.get("error") or {}
        output = item.get("aggregatedOutput") or error.get("message") or text_of(result.get("content")) or item.get("query") or ""
        failed = item.get("status") in ("failed", "declined") or bool(result.get("isError"))
        status = tools[id]["status"] if tools[id]["status"] != "ok" else ("interrupted" if stopped else "error") if failed else "ok"
        end_tool(id, output, failed, status, **({"exit_code": item["exitCode"]} if item.get("exitCode") is not None else {}))

def ask(m):
    p, id = m["params"], f"q{m['id']}"
    if m["method"] not in APPROVALS:
        return respond(m["id"], error={"code": -32601, "message": "not supported"})
    if (p["threadId"], p["turnId"]) in ended or p["threadId"] == thread and not (running and p["turnId"] == current):
        return answer(m, "cancel")  # it is late
    if p.get("command") and p["threadId"] == thread:
        start_tool({"type": "commandExecution", "id": p["itemId"], "command": p["command"]})  # older versions ask first
    asked[id], tool = m, tools.get(p["itemId"])
    tool_input = tool["input"] if tool else {"command": unwrap(p.get("command") or "")}
    if "permissions" in p:
        tool_input = {"permissions": p["permissions"]}
    emit("permission_request", request_id=id, tool_use_id=p["itemId"], tool_name=APPROVALS[m["method"]], tool_input=tool_input)

def translate(m):
    global turn, current, running, stopped
    method, p = m.get("method"), m.get("params", {})
    if method is None:
        reply = replies.pop(m.get("id"), None)
        return reply and reply.put(m)
    if "id" in m:
        return ask(m)
    of = p.get("turnId") or p.get("turn", {}).get("id")
    if method == "turn/completed" and p["threadId"] != thread:
        ended.add((p["threadId"], of))
        withdraw(p["threadId"])
    elif method == "serverRequest/resolved":
        if f"q{p['requestId']}" in asked:
            decide(f"q{p['requestId']}", "cancel", "withdrawn")
    elif p.get("threadId") != thread:
        pass  # of a sub-agent, or of the connection
    elif method == "turn/started" and (thread, of) not in ended and (not running or of != current):
        if running:
            end_turn("error", message="the runtime began another turn", code="unknown")
        turn, current, running, stopped = turn + 1, of, True, False
        emit("turn_start", cause="user" if waiting else "task", message_ids=[waiting.pop(0)] if waiting else [], provider_turn_id=of)
    elif not running or of != current:
        pass  # it is late
    elif method == "item/agentMessage/delta" and p["itemId"] not in ended:
        blocks.add(p["itemId"])
        emit("delta", text=p["delta"], message_id=p["itemId"], block_id=p["itemId"])
    elif method == "item/started":
        start_tool(p["item"])
    elif method == "item/completed":
        complete(p["item"])
    elif method == "turn/completed":
        stopped = stopped or p["turn"]["status"] == "interrupted"
        failed = p["turn"]["status"] == "failed"
        end_turn("error", message=p["turn"]["error"]["message"], code="unknown") if failed else end_turn("done", stopped=stopped)

def read():
    whole = True
    while line := runtime.stdout.readline(LONGEST):
        if whole and len(line) < LONGEST:
            with lock:
                try:
                    translate(json.loads(line))
                except (AttributeError, KeyError, TypeError, ValueError):
                    traceback.print_exc()  # no message, or one of another form
        elif whole and '"method":"turn/completed"' in line[:256]:
            with lock:
                end_turn("error", message="the end of the turn is too long to be read", code="protocol")
        whole = line.endswith("\n")
    if not closed:
        end_runtime()  # it may live on without its stdout
    code = runtime.wait()
    with lock:
        for reply in replies.values():
            reply.put(None)
        if thread and (running or waiting):
            end_turn("error", message="the runtime ended", code="crash")
        if thread:
            emit("session_end", reason="closed" if closed else "the runtime ended", **({"exit_code": code} if code >= 0 else {}))

def end_runtime():
    try:
        runtime.stdin.close()
    except OSError:
        pass  # it has ended
    for seconds, end in ((3, runtime.terminate), (6, runtime.kill)):
        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()

def open_thread(c):
    global runtime, thread
    if c["mode"] not in MODES:
        raise NotImplementedError("the mode " + c["mode"])
    log = tempfile.TemporaryFile("w+")
    runtime = subprocess.Popen(["codex", "app-server"], cwd=c["dir"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, encoding="utf-8", errors="replace")
    threading.Thread(target=read).start()
    try:
        request("initialize", clientInfo={"name": "example", "title": "Example", "version": "1"}, capabilities={"experimentalApi": True})
        write(runtime.stdin, {"method": "initialized"})
        options = dict(zip(("approvalPolicy", "sandbox"), MODES[c["mode"]]), cwd=c["dir"], **({"model": c["model"]} if "model" in c else {}))
        id = request("thread/start", **options)["thread"]["id"]
    except (OSError, ValueError) as err:
        end_runtime()
        code = runtime.wait()
        log.seek(0)
        raise OSError(f"{err}; codex ended with exit code {code}: {log.read()}")
    with lock:
        thread = id
        emit("session_ready", session_id=c["session_id"], runtime="codex", provider_session_id=id)

def do(c):
    global stopped, closed
    if c["do"] == "open":
        open_thread(c)
    elif c["do"] == "send":
        with lock:
            if running or waiting:
                raise NotImplementedError("a message while a turn runs")
            waiting.append(c["message_id"])
        try:
            request("turn/start", threadId=thread, input=[{"type": "text", "text": c["text"]}], clientUserMessageId=c["message_id"])
        except (OSError, ValueError):
            with lock:
                waiting[:] = [id for id in waiting if id != c["message_id"]]
            raise
    elif c["do"] == "answer":
        if "scope" in c:
            raise NotImplementedError("an answer for longer than this call")
        with lock:
            stopped = stopped or c["decision"] == "cancel"
            decide(c["request_id"], c["decision"], "user")
    elif c["do"] == "stop" and running:
        stopped = True
        request("turn/interrupt", threadId=thread, turnId=current)
    elif c["do"] == "close":
        closed = True
        for m in asked.values():
            answer(m, "cancel")
        end_runtime()

EVENTS = "session_ready turn_start delta tool_start tool_result permission_request permission_resolved error done session_end".split()
WITHOUT = "session_ready.runtime_version session_ready.model session_ready.cwd session_ready.mode subagent_id error.code tool_start.pattern tool_start.search_path tool_start.is_file_read tool_start.subagent_spawn tool_start.subagent_name tool_result.changes permission_request.options".split()
write(sys.stdout, {"hello": {"protocol": 1, "runtime": "codex", "can": ["answer", "stop"], "events": EVENTS, "without": WITHOUT}})
signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends the threads too, and the runtime with its pipes
for c in map(json.loads, sys.stdin):
    reply = {"id": c["id"]}
    try:
        do(c)
    except NotImplementedError as err:
        reply["error"] = {"code": "unsupported", "message": str(err)}
    except (OSError, KeyError, ValueError) as err:
        code = "start_failure" if c["do"] == "open" else "closed" if isinstance(err, OSError) else "unknown_id" if isinstance(err, KeyError) else "refused"
        reply["error"] = {"code": code, "message": str(err)}
    with lock:
        write(sys.stdout, {"reply": reply})

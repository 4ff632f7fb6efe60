"""Speaks the protocol of subjects over stdio: conformance/plug/jsonl/PROTOCOL.md."""

import asyncio
import inspect
import json
import os
import sys
import threading
import traceback

__all__ = ["Plug", "PlugError", "serve"]

# Abilities that are commands; the others are declared in `can`.
_COMMANDS = "answer stop steer set_model set_mode stop_all stop_task withdraw revert rewind compact archive rename list".split()
_OUTSIDE_TURNS = ("session_ready", "session_end")


class PlugError(Exception):
    """An error whose code the reply contains."""

    def __init__(self, code, message=None):
        super().__init__(message or code)
        self.code = code


class Plug:
    """An adapter as a subject: a method for each command that it supports."""

    runtime = ""
    can = ()
    events = None
    without = None

    _lock = threading.Lock()
    _turn = 0
    _running = False

    def emit(self, type, /, *, turn=None, subagent_id=None, **data):
        """Writes an event. Threads may call it."""
        with self._lock:
            if type == "turn_start" and subagent_id is None:
                self._turn += 1
                self._running = True
            event = {"type": type, "data": data}
            if turn is not None:
                event["turn"] = turn
            elif self._running and type not in _OUTSIDE_TURNS:
                event["turn"] = self._turn
            if subagent_id is not None:
                event["subagent_id"] = subagent_id
            if type in ("done", "error") and subagent_id is None:
                self._running = False
            _write({"event": event})

    _calls = {}

    async def call(self, *, input=None, **request):
        """Calls a tool or hook of the client, and returns the result."""
        id, result = "c%d" % (len(self._calls) + 1), asyncio.get_running_loop().create_future()
        self._calls[id] = result
        _write({"call": {"id": id, "input": input, **request}})
        try:
            return await asyncio.shield(result)
        except asyncio.CancelledError:
            _write({"cancel": {"id": id}})
            await result
            raise


_writing = threading.Lock()


def _write(line):
    text = json.dumps(line) + "\n"
    with _writing:
        sys.stdout.write(text)
        sys.stdout.flush()


async def _handle(plug, command):
    id, name = command.pop("id", None), command.pop("do")
    if name == "result":
        plug._calls[command.pop("call")].set_result(command)
        return
    try:
        method = getattr(plug, name, None)
        if method is None:
            raise PlugError("unsupported", name + " is not supported")
        if name == "open":
            plug._turn = command.get("after", {}).get("turn", 0)
        result = method(**command)
        if inspect.isawaitable(result):
            result = await result
        _write({"reply": {"id": id, "listed": result} if name == "list" else {"id": id}})
    except PlugError as err:
        _write({"reply": {"id": id, "error": {"code": err.code, "message": str(err)}}})
    except Exception as err:
        traceback.print_exc()
        code = "start_failure" if name == "open" else "refused"
        _write({"reply": {"id": id, "error": {"code": code, "message": repr(err)}}})


async def _serve(plug):
    hello = {"protocol": 1, "runtime": plug.runtime, "can": [c for c in _COMMANDS if hasattr(plug, c)] + list(plug.can)}
    for member in ("events", "without"):
        if getattr(plug, member) is not None:
            hello[member] = list(getattr(plug, member))
    _write({"hello": hello})
    loop, tasks, is_open, lines = asyncio.get_running_loop(), set(), False, asyncio.Queue()
    # A daemon, because ^C ends the program while the thread waits for a line.
    threading.Thread(target=_read_lines, args=(loop, lines), daemon=True).start()
    try:
        while True:
            line = await lines.get()
            if not line:
                break
            command = json.loads(line)
            is_open = command["do"] == "open" or is_open and command["do"] != "close"
            # Commands also arrive while an earlier one is pending. Each begins before the next.
            task = loop.create_task(_handle(plug, command))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            await asyncio.sleep(0)
    finally:
        if is_open:  # turnspec is gone, or the program was interrupted: end the runtime too
            result = plug.close()
            if inspect.isawaitable(result):
                await result


def _read_lines(loop, lines):
    """Puts each line of stdin into the queue, and an empty one at its end."""
    rest = b""
    while True:
        # Not sys.stdin, whose lock this thread would hold when the program ends.
        chunk = os.read(0, 1 << 16)
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole + ([] if chunk else [rest, b""]):
            if line or not chunk:
                loop.call_soon_threadsafe(lines.put_nowait, line)
        if not chunk:
            return


def serve(plug):
    """Serves the adapter over stdio until stdin is closed. Its methods may be coroutines."""
    asyncio.run(_serve(plug))

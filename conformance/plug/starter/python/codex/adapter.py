"""A client of codex app-server, as it may lie in a program: it knows nothing of turnspec."""

import itertools
import json
import queue
import subprocess
import tempfile
import threading
import traceback

LONGEST = 64 << 20  # characters of a line of the runtime; a longer one is skipped
REPLY_LIMIT = 10  # seconds that a request waits for the reply of the runtime


class RequestError(Exception):
    """The runtime refused a request."""


class CodexClient:
    """Sends requests, and passes what the runtime sends to its owner, from a thread.

    The owner has on_message, for notifications and requests of the runtime, on_long_end, for an
    end of a turn that is too long to be read, and on_exit. They are called with the lock held.
    """

    def __init__(self, owner):
        self.owner = owner
        self.thread = None  # the runtime's id of the session
        self.lock = threading.RLock()
        self.replies = {}  # requests without a reply
        self.ids = itertools.count(1)
        self.closed = False

    def start(self, cwd, model, approval_policy, sandbox):
        """Starts the runtime and a session."""
        log = tempfile.TemporaryFile("w+")
        self.child = subprocess.Popen(
            ["codex", "app-server"],
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            encoding="utf-8",
            errors="replace",
        )
        threading.Thread(target=self._read_all).start()
        options = {"approvalPolicy": approval_policy, "sandbox": sandbox, "cwd": cwd}
        if model:
            options["model"] = model
        info = {"name": "example", "title": "Example", "version": "1"}
        try:
            self.request("initialize", clientInfo=info, capabilities={"experimentalApi": True})
            self._write({"method": "initialized"})
            self.thread = self.request("thread/start", **options)["thread"]["id"]
        except (OSError, RequestError) as err:
            self.end()
            code = self.child.wait()
            log.seek(0)
            raise OSError("%s; codex ended with exit code %d: %s" % (err, code, log.read()))

    def request(self, method, **params):
        """Sends a request and returns the result."""
        id, reply = next(self.ids), queue.Queue()
        self.replies[id] = reply
        with self.lock:
            self._write({"id": id, "method": method, "params": params})
        try:
            m = reply.get(timeout=REPLY_LIMIT)
        except queue.Empty:
            raise TimeoutError("no reply to " + method)
        if m is None:
            raise BrokenPipeError("the runtime has ended")
        if "error" in m:
            raise RequestError(m["error"]["message"])
        return m["result"]

    def respond(self, id, **response):
        """Answers a request of the runtime."""
        try:
            self._write({"id": id, **response})
        except (OSError, ValueError):
            pass  # the runtime has ended, or the session is closed

    def end(self):
        """Ends the runtime."""
        self.closed = True
        try:
            self.child.stdin.close()
        except OSError:
            pass  # it has ended
        for seconds, end in ((3, self.child.terminate), (6, self.child.kill)):
            timer = threading.Timer(seconds, end)
            timer.daemon = True
            timer.start()

    def _write(self, line):
        self.child.stdin.write(json.dumps(line) + "\n")
        self.child.stdin.flush()

    def _read_all(self):
        whole = True  # the line before was
        while line := self.child.stdout.readline(LONGEST):
            with self.lock:
                if whole and len(line) < LONGEST:
                    self._read(line)
                elif whole and '"method":"turn/completed"' in line[:256]:
                    self.owner.on_long_end()
            whole = line.endswith("\n")
        if not self.closed:
            self.end()  # it may live on without its stdout
        code = self.child.wait()
        with self.lock:
            for reply in self.replies.values():
                reply.put(None)
            self.owner.on_exit(code)

    def _read(self, line):
        try:
            m = json.loads(line)
            if "method" in m:
                self.owner.on_message(m)
            elif m.get("id") in self.replies:
                self.replies.pop(m["id"]).put(m)
        except (AttributeError, KeyError, TypeError, ValueError):
            traceback.print_exc()  # no message, or one of another form

"""Connects an adapter to turnspec.

turnspec smoke --runtime {{runtime}} -- python3 conformance/plug.py
"""

from turnspec_plug import Plug, PlugError, serve


class Adapter(Plug):
    runtime = "{{runtime}}"
    # The types of events that the adapter emits. A check that needs another is not expressible.
    events = ["session_ready", "turn_start", "delta", "error", "done", "session_end"]
    # The members that these events lack. Remove one when the adapter emits it.
    without = [
        "session_ready.runtime_version",
        "session_ready.model",
        "session_ready.cwd",
        "session_ready.mode",
    ]

    def open(self, session_id, dir, mode, model=None, **options):
        # Start your adapter in dir; it finds the runtime in PATH. Then, for each of its events:
        #   self.emit("session_ready", session_id=session_id, runtime="{{runtime}}",
        #             provider_session_id=…)
        #   self.emit("turn_start", cause="user", message_ids=[…])
        #   self.emit("delta", text=…, message_id=…, block_id=…)
        #   self.emit("done")
        #   self.emit("session_end", reason="closed")  # or why the runtime ended by itself
        raise PlugError("start_failure", "conformance/plug.py starts no adapter yet")

    def send(self, message_id, text, **options):
        pass

    # Each further method declares an ability: answer, stop, steer, set_model …

    def close(self):
        pass


serve(Adapter())

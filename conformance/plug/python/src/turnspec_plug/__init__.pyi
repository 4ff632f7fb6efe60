from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence

from ._types import Attachment, EventType, OpenCommandAfter, OpenCommandMcp, Runtime

class PlugError(Exception):
    """An error whose code the reply contains: unsupported, refused, unknown_id, no_turn, closed; of open also a code of the event error,
    such as start_failure. Any other exception is written to stderr and becomes refused (of open: start_failure)."""

    code: str
    def __init__(self, code: str, message: Optional[str] = None) -> None: ...

_Ability = Literal["question", "attach", "priority", "resume", "fork", "instructions", "effort", "max_requests", "max_cost", "extra_dirs", "setting_sources", "stream_tool_input", "mcp", "schema", "policy", "limits", "tools", "hooks", "components"]

class Plug:
    """An adapter as a subject. A subclass has a method for each command that it supports: open, send, close, and those whose
    presence declares an ability:
    answer, stop, steer, set_model, set_mode, stop_all, stop_task, withdraw, revert, rewind, compact, archive, rename, list.
    Their parameters are the members of the command; a method that takes **options accepts those that it does not use. list returns the entries as dictionaries: id, title, status, raw. Methods may be coroutines. Each session starts the program again."""

    #: The runtime that the adapter wraps.
    runtime: Runtime
    #: Abilities that are not commands.
    can: Sequence[_Ability]
    #: The types of events that the adapter emits; None means all.
    events: Optional[Sequence[EventType]]
    #: Members that its events lack, such as tool_start.file_path or subagent_id.
    without: Optional[Sequence[str]]

    def emit(self, type: EventType, /, *, turn: Optional[int] = None, subagent_id: Optional[str] = None, **data: Any) -> None:
        """Writes an event with the data. Without turn it has the number of the running turn: turn_start begins it, done and
        error end it. Threads may call it."""

    async def call(
        self, *, tool: str = ..., hook: int = ..., input: Any = None, tool_use_id: str = ...
    ) -> Dict[str, Any]:
        """Calls a tool of open, or a hook by its index, and returns the members of the result: content, is_error, output, error.
        If the awaiting task is cancelled, so is the call; call returns when the tool has ended."""

def serve(plug: Plug) -> None:
    """Serves the adapter over stdio until stdin is closed. Write logs to stderr: stdout belongs to the protocol."""

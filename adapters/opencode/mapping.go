package opencode

import (
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/mapping"
)

// The kinds of messages.
const (
	kindEvent = "event"
	kindPart  = "part"
)

// Mapping lists every message of the runtime, with the events that it becomes. doc.go
// describes them in detail.
func (Adapter) Mapping() []adapters.Mapped {
	return slices.Concat(
		mapping.Mapped(kindEvent, "task, of a sub-agent", "session.created"),
		mapping.Mapped(kindEvent, "busy: turn_start, thinking; retry: block_end retracted, notice retry", "session.status"),
		mapping.Mapped(kindEvent, "done or error, when each reply of the model is complete", "session.idle"),
		mapping.Mapped(kindEvent, "the error, or the stop, of the turn", "session.error"),
		mapping.Mapped(kindEvent, "compaction end", "session.compacted"),
		mapping.Mapped(kindEvent, "user_message; model_changed; how the model ended its reply", "message.updated"),
		mapping.Mapped(kindEvent, "by the part's type", "message.part.updated"),
		mapping.Mapped(kindEvent, "delta or thinking", "message.part.delta"),
		mapping.Mapped(kindEvent, "permission_request", "permission.asked"),
		mapping.Mapped(kindEvent, "permission_resolved", "permission.replied"),
		mapping.Mapped(kindEvent, "interrupt", "question.asked"),
		mapping.Mapped(kindEvent, "interrupt_resolved", "question.replied", "question.rejected"),
		mapping.Mapped(kindEvent, "plan", "todo.updated"),
		mapping.Mapped(kindPart, "block_end; of a message of the user, user_message", "text"),
		mapping.Mapped(kindPart, "the end of thinking", "reasoning"),
		mapping.Mapped(kindPart, "tool_start, tool_output, tool_result", "tool"),
		mapping.Mapped(kindPart, "usage", "step-finish"),
		mapping.Mapped(kindPart, "compaction start", "compaction"),
		mapping.Ignored(kindPart, "the parts within the step say more", "step-start"),
		mapping.Ignored(kindPart, "the results of tools have the changes", "patch", "snapshot"),
		mapping.Ignored(kindPart, "the client's own commands", "agent", "subtask"),
		mapping.Mapped(kindPart, "a notice, in a reply of the model; else it is the client's own attachment", "file"),
		mapping.Mapped(kindPart, "notice retry, unless session.status has reported it", "retry"),
		mapping.Ignored(kindEvent, "messages of the user state it", "session.next.agent.switched", "session.next.model.switched"), // by 1.15
		mapping.Ignored(kindEvent, "the stream has begun, or is alive", "server.connected", "server.heartbeat"),
		mapping.Ignored(kindEvent, "figures and settings of the session", "session.updated", "session.deleted"),
		mapping.Ignored(kindEvent, "the results of tools have the changes", "session.diff", "file.edited", "file.watcher.updated"),
		mapping.Ignored(kindEvent, "the client has asked for it", "message.removed", "message.part.removed", "command.executed"),
		mapping.Ignored(kindEvent, "the program's own start and settings", "plugin.added", "catalog.updated", "integration.updated", "integration.connection.updated",
			"reference.updated", "models-dev.refreshed", "installation.updated", "installation.update-available", "project.updated", "project.directories.updated",
			"vcs.branch.updated", "lsp.updated", "lsp.client.diagnostics", "mcp.tools.changed", "mcp.browser.open.failed", "server.instance.disposed", "global.disposed"),
		mapping.Ignored(kindEvent, "the runtime's own screen and terminals", "tui.prompt.append", "tui.command.execute", "tui.toast.show", "tui.session.select",
			"pty.created", "pty.updated", "pty.exited", "pty.deleted", "workspace.ready", "workspace.failed", "workspace.status", "worktree.ready", "worktree.failed"),
	)
}

// names returns the names of one kind, of those that are ignored or of all.
func names(kind string, ignored bool) map[string]bool {
	out := map[string]bool{}
	for _, m := range (Adapter{}).Mapping() {
		if m.Kind == kind && (m.Ignored != "" || !ignored) {
			out[m.Name] = true
		}
	}
	return out
}

var (
	ignoredEvents = names(kindEvent, true)
	knownEvents   = names(kindEvent, false)
	knownParts    = names(kindPart, false)
)

// isIgnored reports whether an event is known and becomes no event.
func isIgnored(name string) bool { return ignoredEvents[name] }

func isKnown(name string) bool { return knownEvents[name] }

func isKnownPart(name string) bool { return knownParts[name] }

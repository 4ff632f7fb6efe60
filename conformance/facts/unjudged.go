package facts

import (
	"maps"
	"slices"
)

// open marks a fact for which a check is still to be written.
const open = "a check is still to be written"

// unjudged gives the reason why no check judges a fact that the reference emits.
var unjudged = map[string]string{
	"interrupt.props":               open,
	"interrupt_resolved.value":      open,
	"permission_request.tool_name":  open,
	"permission_request.options":    open,
	"permission_request.reason":     open,
	"permission_resolved.tool_name": open,
	"plan":                          open,
	"plan.steps":                    open,
	"plan.steps.text":               open,
	"plan.steps.status":             open,
	"task.task_id":                  open,
	"task.parent_id":                open,
	"task.tool_use_id":              open,
	"task.name":                     open,
	"task.text":                     open,
	"task.usage":                    open,
	"task.usage.input":              open,
	"task.usage.output":             open,
	"task.usage.total":              open,
	"tool_output.tool_use_id":       open,
	"tool_result.changes.path":      open,
	"tool_result.changes.kind":      open,
	"tool_result.changes.move_to":   open,
	"tool_result.changes.diff":      open,
	"tool_result.file_path":         open,
	"tool_result.is_file_read":      open,
	"tool_start.file_path":          open,
	"tool_start.pattern":            open,
	"tool_start.search_path":        open,
	"tool_start.background":         open,
	"tool_start.subagent_name":      open,
	"tool_start.message_id":         open,
}

// Unjudged returns the facts that no check judges for a stated reason, sorted.
func Unjudged() []string { return slices.Sorted(maps.Keys(unjudged)) }

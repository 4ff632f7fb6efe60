package runindex

import (
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// toolPrefixes are the prefixes that runtimes put before the scenario's id of a
// call.
var toolPrefixes = sync.OnceValue(runtimes.ToolPrefixes)

// SameCall reports whether an id of a subject is that of the scenario's call. If the
// wire has no ids of the model, the calls are known by their order and their commands.
func SameCall(r *conformance.Run, id, call string) bool {
	if id == call {
		return true
	}
	if Runtime(r).OwnCallIDs() {
		return conformance.Derive(r, matchCalls)[id] == call
	}
	prefix, ok := strings.CutSuffix(id, call)
	return ok && slices.Contains(toolPrefixes(), prefix)
}

// matchedCalls holds the scenario's calls by the subject's id.
type matchedCalls map[string]string

// matchCalls gives each tool_start of the main agent the first call of the model that it may
// be: one with the same command or tool of a server, or else one that runs no command.
func matchCalls(r *conformance.Run) matchedCalls {
	type command struct {
		Command string `json:"command"`
		Path    string `json:"path"`
		Server  string `json:"server"`
		Tool    string `json:"tool"`
	}
	calls := Calls(r)
	commands := make([]command, len(calls))
	for i, c := range calls {
		_ = json.Unmarshal(c.Input, &commands[i]) // other tools have other inputs
	}
	out, taken := matchedCalls{}, make([]bool, len(calls))
	find := func(fits func(i int) bool) int {
		for i := range calls {
			if !taken[i] && !calls[i].Hidden && fits(i) {
				return i
			}
		}
		return -1
	}
	for e, d := range EventsOf[event.ToolStart](r) {
		if e.SubagentID != "" || out[d.ToolUseID] != "" {
			continue
		}
		i := find(func(i int) bool {
			c := &commands[i]
			return c.Command != "" && c.Command == d.Command || c.Server != "" && d.Tool == "mcp__"+c.Server+"__"+c.Tool
		})
		if i < 0 { // a runtime may run a command to read a file
			i = find(func(i int) bool {
				return commands[i].Command == "" && strings.Contains(d.Command, commands[i].Path) || d.Command == "" && commands[i].Command == ""
			})
		}
		if i < 0 && !r.Supports("tool_start.command") {
			i = find(func(int) bool { return true })
		}
		if i >= 0 {
			taken[i], out[d.ToolUseID] = true, calls[i].ID
		}
	}
	return out
}

// nameTools gives the tools of lines the ids of the subject's events, by the order of their
// starts: the wire's ids are unique within a process only.
func nameTools(r *conformance.Run, lines []Line) {
	type item struct {
		process int
		id      string
	}
	var starts []string
	for e, d := range EventsOf[event.ToolStart](r) {
		if e.SubagentID == "" && !slices.Contains(starts, d.ToolUseID) {
			starts = append(starts, d.ToolUseID)
		}
	}
	names := map[item]string{}
	for i := range lines {
		for j := range lines[i].Tools {
			t := &lines[i].Tools[j]
			k := item{r.Played[i].Line.Process, t.ID}
			if _, known := names[k]; !known && len(names) < len(starts) {
				names[k] = starts[len(names)]
			}
			if t.ID = names[k]; t.ID == "" {
				t.ID = "no event"
			}
		}
	}
}

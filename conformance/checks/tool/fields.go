package tool

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Fields is the check tool.fields.
var Fields = &conformance.Check{
	ID: "tool.fields", Source: "user interfaces that show a call in one line", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges: []string{
		"tool_start.command", "tool_start.file_path", "tool_start.pattern", "tool_start.search_path", "tool_start.background", "tool_start.message_id",
		"tool_result.file_path", "tool_result.is_file_read",
	},
	Needs:    []string{"tool_start.input", "tool_start.command"},
	Mend:     "Fill command, file_path, pattern, search_path and background from the input of the call, and repeat file_path and is_file_read in its result.",
	Sentence: "tool_start holds file_path and command if the call has them; they, pattern, search_path and background repeat the call, message_id names its message, and tool_result repeats file_path and is_file_read.",
	Judge:    judgeFields,
}

func judgeFields(t *conformance.Trial, f *conformance.Finding) {
	for _, call := range runindex.Calls(t.Run) {
		var in runindex.Input
		if call.Hidden || json.Unmarshal(call.Input, &in) != nil {
			continue
		}
		for _, e := range runindex.Of(t.Run).Starts(call) {
			d, _ := e.Data.(event.ToolStart)
			missing := ""
			switch {
			case d.Tool == "Bash" && in.Command != "":
				if d.Command == "" {
					missing = "command"
				}
			case slices.Contains([]string{"Read", "Write", "Edit"}, d.Tool) && in.Path != "" && t.Supports("tool_start.file_path"):
				if d.FilePath == "" {
					missing = "file_path"
				}
			default:
				continue
			}
			f.Asserted(1)
			if missing != "" {
				f.At(e, "%s %s has no %s", d.Tool, d.ToolUseID, missing)
			}
		}
	}
	calls := runindex.AllCalls(t.Run)
	for _, tool := range runindex.Of(t.Run).Tools() {
		i := slices.IndexFunc(calls, func(c fixtures.OutputPart) bool { return runindex.SameCall(t.Run, tool.ID, c.ID) })
		if i < 0 || len(tool.Starts) == 0 {
			continue
		}
		judgeRepeats(t, tool, calls[i], f)
	}
}

// shellPrefix matches how a runtime starts a command by a shell.
var shellPrefix = regexp.MustCompile(`^\S*sh -l?c $`)

// judgeRepeats demands that the fields of a call, as far as they are set, repeat what
// the model gave.
func judgeRepeats(t *conformance.Trial, tool *runindex.Tool, call fixtures.OutputPart, f *conformance.Finding) {
	e, d := tool.Starts[0], tool.Start()
	var in runindex.Input
	_ = json.Unmarshal(call.Input, &in) // a call of another form has none of these members
	wrong := func(field, got string) {
		f.At(e, "%s %s: %s is %q, which the call %s does not hold", d.Tool, d.ToolUseID, field, got, runindex.Clip(string(call.Input)))
	}
	if (in.Path != "" || in.Command != "") && !runindex.RecordedTool(t.Run, func(w wire.Tool) bool { return w.AsReading }) {
		runindex.Demand(t, f, e, "tool_start.input", len(d.Input) > len("{}"), runindex.Clip(string(call.Input)))
	}
	if d.Command != "" && in.Command != "" {
		f.Asserted(1)
		if before, ok := strings.CutSuffix(unquoted(d.Command), unquoted(in.Command)); !ok || before != "" && !shellPrefix.MatchString(before) {
			wrong("command", d.Command)
		}
	}
	if d.FilePath != "" {
		f.Asserted(1)
		full, given := path.Clean("/"+d.FilePath), path.Clean("/"+in.Path)
		if in.Path != "" && call.Tool != "shell" && !strings.HasSuffix(full, given) || !namesFile(call.Input, d.Input, d.FilePath) {
			wrong("file_path", d.FilePath)
		}
	}
	for field, value := range map[string]string{"pattern": d.Pattern, "search_path": d.SearchPath} {
		if value == "" {
			continue
		}
		f.Asserted(1)
		if !namesFile(call.Input, d.Input, value) {
			wrong(field, value)
		}
	}
	if given := backgroundIn(d.Input); in.Background || given {
		f.Asserted(1)
		if given && !d.Background && t.Supports("tool_start.background") {
			f.At(e, "%s %s: the input asks for the background, but background is not set", d.Tool, d.ToolUseID)
		}
	} else if d.Background && call.Tool != "subagent" {
		f.At(e, "%s %s: background is set, but the call does not ask for it", d.Tool, d.ToolUseID)
	}
	judgeMessageID(t, e, d, f)
	if d.Tool == "Grep" || d.Tool == "Glob" {
		var given struct {
			Pattern string `json:"pattern"`
			Path    string `json:"path"`
		}
		if runindex.Decode(d.Input, &given) && given.Pattern != "" {
			runindex.Demand(t, f, e, "tool_start.pattern", d.Pattern != "", given.Pattern)
			if given.Path != "" {
				runindex.Demand(t, f, e, "tool_start.search_path", d.SearchPath != "", given.Path)
			}
		}
	}
	judgeRepeatedByResult(t, tool, d, f)
}

// namesFile reports whether an input names a path, or a folder and a name that a command
// joins. A runtime may report the path in the input of the call that it runs.
func namesFile(given, shown jsontext.Value, name string) bool {
	if runindex.Holds(given, name) || runindex.Holds(given, path.Base(name)) {
		return true
	}
	return runindex.Holds(shown, name)
}

// backgroundIn reports whether the input of a call has a member that asks for the
// background.
func backgroundIn(input jsontext.Value) bool {
	var members map[string]jsontext.Value
	if !runindex.Decode(input, &members) {
		return false
	}
	for name, v := range members {
		if strings.Contains(name, "background") && v.Kind() == 't' {
			return true
		}
	}
	return false
}

// judgeMessageID compares the message of a call with that of the line that starts it. Two
// threads of a process may use the same id for a call.
func judgeMessageID(t *conformance.Trial, e conformance.Event, d event.ToolStart, f *conformance.Finding) {
	lines := runindex.Of(t.Run).Lines()
	var other string
	for _, l := range lines[:min(e.Line, len(lines))] {
		for _, tool := range l.Tools {
			if tool.Ends || l.Message == "" || tool.ID != d.ToolUseID && tool.ID != t.Recorded(d.ToolUseID) {
				continue
			}
			if d.MessageID == "" {
				runindex.Demand(t, f, e, "tool_start.message_id", false, l.Message)
				return
			}
			f.Asserted(1)
			if d.MessageID == l.Message || t.Recorded(d.MessageID) == l.Message {
				return
			}
			other = l.Message
		}
	}
	if other != "" {
		f.At(e, "%s %s: message_id is %q, the runtime's message is %q", d.Tool, d.ToolUseID, d.MessageID, other)
	}
}

// judgeRepeatedByResult demands that the result of a call agrees with its start.
func judgeRepeatedByResult(t *conformance.Trial, tool *runindex.Tool, d event.ToolStart, f *conformance.Finding) {
	result, ended := tool.Result()
	if !ended {
		return
	}
	e := tool.Results[0]
	if d.IsFileRead && result.Status == event.ToolOK {
		runindex.Demand(t, f, e, "tool_result.is_file_read", result.IsFileRead, "that the call reads a file")
	}
	if d.FilePath != "" && result.Status == event.ToolOK && len(result.Changes) == 0 {
		runindex.Demand(t, f, e, "tool_result.file_path", result.FilePath != "", d.FilePath)
	}
	if result.IsFileRead {
		f.Asserted(1)
		if !d.IsFileRead {
			f.At(e, "tool_result of %s is marked as a file read, but its tool_start is not", d.ToolUseID)
		}
	}
	if result.FilePath == "" {
		return
	}
	f.Asserted(1)
	changed := slices.ContainsFunc(result.Changes, func(c event.FileChange) bool { return c.Path == result.FilePath })
	if result.FilePath != d.FilePath && !changed {
		f.At(e, "tool_result of %s has the file_path %q, but its tool_start has %q", d.ToolUseID, result.FilePath, d.FilePath)
	}
}

// unquoted removes the quoting of a shell.
func unquoted(s string) string { return strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(s) }

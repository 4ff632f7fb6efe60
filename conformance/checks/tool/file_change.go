package tool

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// FileChange is the check tool.file-change.
var FileChange = &conformance.Check{
	ID: "tool.file-change", Source: "wire/codex: fileChange", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges: []string{
		"tool_result.changes", "tool_result.changes.path", "tool_result.changes.kind", "tool_result.changes.move_to", "tool_result.changes.diff",
	},
	Needs:    []string{"tool_result.changes"},
	Mend:     "Copy each change of the runtime's file change into tool_result.changes: path, kind, target of a move, and diff.",
	Sentence: "The result of a successful change of files holds each file with its path, its kind, where it was moved, and the changed lines.",
	Judge:    judgeChanges,
}

// showsFilesOnly reports whether the wire shows changed files without the lines that change.
func showsFilesOnly(r *conformance.Run) bool {
	return runindex.RecordedTool(r, func(t wire.Tool) bool { return t.FilesOnly })
}

func judgeChanges(t *conformance.Trial, f *conformance.Finding) {
	judgeStatedChanges(t, f)
	filesOnly := showsFilesOnly(t.Run)
	there := &knownFiles{written: map[string]bool{}, run: t.Run}
	for _, call := range runindex.Calls(t.Run) {
		if call.Hidden || call.Tool != "write" && call.Tool != "edit" && call.Tool != "notebook" {
			continue
		}
		var in runindex.Input
		_ = json.Unmarshal(call.Input, &in) // without a path, any path will do
		for e, d := range runindex.EventsOf[event.ToolResult](t.Run) {
			if e.SubagentID != "" || !runindex.SameCall(t.Run, d.ToolUseID, call.ID) || d.Status != event.ToolOK {
				continue
			}
			f.Asserted(1)
			if len(d.Changes) == 0 {
				f.At(e, "%s %s succeeded, but its result holds no change", call.Tool, call.ID)
			}
			for _, c := range d.Changes {
				if c.Path == "" || c.Kind == "" || c.Diff == "" && !filesOnly && c.Kind != event.ChangeDelete && c.Kind != event.ChangeMove {
					f.At(e, "%s %s: the change of %q is %q, with a diff of %d bytes", call.Tool, call.ID, c.Path, c.Kind, len(c.Diff))
				}
				if problem := hunkProblem(c.Diff); problem != "" && c.Kind == event.ChangeUpdate {
					f.At(e, "%s %s: the diff of %q %s", call.Tool, call.ID, c.Path, problem)
				}
				if !strings.HasSuffix(path.Clean("/"+c.Path), path.Clean("/"+in.Path)) {
					f.At(e, "%s %s changes %q, but its result holds the path %q", call.Tool, call.ID, in.Path, c.Path)
				}
			}
			if len(d.Changes) == 1 && call.Name != patchTool {
				there.judgeKind(e, call, in.Path, d.Changes[0].Kind, f)
			}
			there.written[in.Path] = true
		}
	}
}

// knownFiles are the files that are in the workspace when a call begins.
type knownFiles struct {
	run     *conformance.Run
	written map[string]bool // by earlier calls
}

// patchTool is the model's tool for patches. A patch says itself that it adds a file, also one
// that is there.
const patchTool = "apply_patch"

// judgeKind demands that a file which was there is not added by a call, and that one which was
// not there is.
func (k *knownFiles) judgeKind(e conformance.Event, call runindex.Call, file string, kind event.ChangeKind, f *conformance.Finding) {
	switch added := kind == event.ChangeAdd; {
	case added && k.has(file):
		f.At(e, "%s %s changes %q, which was there before, but its result says that the file was added", call.Tool, call.ID, file)
	case !added && call.Tool == "write" && !k.has(file) && !k.mayHave(call.ID):
		f.At(e, "%s %s creates %q, but its result says %s, not %s", call.Tool, call.ID, file, kind, event.ChangeAdd)
	}
}

func (k *knownFiles) has(name string) bool {
	name = path.Clean("/" + name)
	for file := range k.run.Scenario.Workspace {
		if strings.HasSuffix(name, path.Clean("/"+file)) {
			return true
		}
	}
	return k.written[strings.TrimPrefix(name, "/")] || k.written[name]
}

// mayHave reports whether something else than the calls that change files may have written a
// file before a call: a command, a sub-agent or a tool of a server.
func (k *knownFiles) mayHave(before string) bool {
	for _, c := range runindex.AllCalls(k.run) {
		if c.ID == before {
			return false
		}
		if c.Tool != "write" && c.Tool != "edit" && c.Tool != "read" {
			return true
		}
	}
	return true
}

// judgeStatedChanges compares the changes of a successful call with those that the
// runtime's line states.
func judgeStatedChanges(t *conformance.Trial, f *conformance.Finding) {
	for e, d := range runindex.EventsOf[event.ToolResult](t.Run) {
		stated := runindex.StatedResult(t.Run, e, d.ToolUseID)
		if stated == nil || len(stated.Changes) == 0 || d.Status != event.ToolOK {
			continue
		}
		f.Asserted(1)
		var want, got []string
		for _, c := range stated.Changes {
			want = append(want, changeText(c))
		}
		for _, c := range d.Changes {
			if c.MoveTo != "" && c.Kind != event.ChangeMove {
				f.At(e, "tool %s moves %s to %s, but the kind of the change is %s, not %s", d.ToolUseID, c.Path, c.MoveTo, c.Kind, event.ChangeMove)
			}
			got = append(got, changeText(wire.FileChange{
				Path: t.Recorded(statedPath(t.Run, c.Path, stated)), Kind: string(c.Kind), MoveTo: t.Recorded(c.MoveTo), Diff: t.Recorded(c.Diff),
			}))
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			f.At(e, "tool %s: the changed files are %q, but the runtime reports %q", d.ToolUseID, got, want)
		}
	}
}

// statedPath returns the absolute path that the runtime states for a relative one.
func statedPath(r *conformance.Run, p string, stated *wire.ToolResult) string {
	for _, c := range stated.Changes {
		if !path.IsAbs(p) && strings.HasSuffix(c.Path, "/"+path.Clean(r.Recorded(p))) {
			return c.Path
		}
	}
	return p
}

// changeText returns a change in a form that does not depend on how the diff is
// written: its context and its headers are left out.
func changeText(c wire.FileChange) string {
	switch {
	case c.MoveTo != "":
		c.Kind = wire.FileMoved
	case c.Kind != wire.FileAdded && c.Kind != wire.FileDeleted:
		c.Kind = wire.FileUpdated // whatever a newer version calls it
	}
	text := c.Diff
	if c.Kind == wire.FileUpdated || c.Kind == wire.FileMoved {
		text = changedLines(c.Diff)
	}
	return strings.TrimSpace(c.Path+" "+c.Kind+" "+c.MoveTo) + "\n" + strings.TrimRight(text, "\n")
}

// changedLines returns the removed and added lines of the hunks of a diff.
func changedLines(diff string) string {
	var out strings.Builder
	inHunk := !strings.Contains(diff, "@@ ") // hunks without a header
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "@@ "):
			inHunk = true
		case strings.HasPrefix(line, "diff ") || strings.HasPrefix(line, "--- ") && !inHunk:
			inHunk = false
		case inHunk && (line[0] == '-' || line[0] == '+'):
			out.WriteString(line)
		}
	}
	return out.String()
}

// hunkHeader is the first line of a hunk; a count that is left out is 1.
var hunkHeader = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// hunkProblem returns what is wrong with the hunks of a unified diff, or "". Added lines alone
// need no header: what was there before may be unknown.
func hunkProblem(diff string) string {
	old, added, hunks, others := 0, 0, 0, false
	for line := range strings.Lines(diff) {
		if m := hunkHeader.FindStringSubmatch(line); m != nil && old == 0 && added == 0 {
			old, added, hunks = hunkCount(m[1]), hunkCount(m[2]), hunks+1
			continue
		}
		others = others || line[0] != '+'
		if old == 0 && added == 0 {
			continue // between hunks
		}
		switch line[0] {
		case '+':
			added--
		case '-':
			old--
		case ' ', '\n':
			old, added = old-1, added-1
		}
		if old < 0 || added < 0 {
			return "has a hunk with more lines than its header states"
		}
	}
	switch {
	case hunks == 0 && others:
		return "has no header of a hunk"
	case old > 0 || added > 0:
		return "has a hunk with fewer lines than its header states"
	}
	return ""
}

func hunkCount(s string) int {
	if s == "" {
		return 1
	}
	n, _ := strconv.Atoi(s) // digits; too many make it the largest number
	return n
}

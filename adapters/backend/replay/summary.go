package replay

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
)

// toolArgs are the members of a tool's input that summaries use, under the names of
// the runtimes.
type toolArgs struct {
	Command     string   `json:"command"`
	FilePath    string   `json:"file_path"`
	Notebook    string   `json:"notebook_path"`
	Path        string   `json:"path"`
	Pattern     string   `json:"pattern"`
	Query       string   `json:"query"`
	URL         string   `json:"url"`
	Offset      int      `json:"offset"`
	Limit       int      `json:"limit"`
	Description string   `json:"description"`
	Prompt      string   `json:"prompt"`
	To          string   `json:"to"`
	Message     string   `json:"message"`
	AgentPath   string   `json:"agentPath"`
	TaskID      string   `json:"task_id"`
	Receivers   []string `json:"receiverThreadIds"`
	Changes     []struct {
		Path string `json:"path"`
	} `json:"changes"`
}

// parseArgs decodes the input. It ignores a member of an unexpected type, but not
// the others.
func (t *Tool) parseArgs() (a toolArgs) {
	if json.Unmarshal(t.Input, &a, snapshotJSON) == nil {
		return a
	}
	var members map[string]event.Raw
	if json.Unmarshal(t.Input, &members, snapshotJSON) != nil {
		return toolArgs{}
	}
	a = toolArgs{}
	for name, v := range members {
		one, _ := json.Marshal(map[string]event.Raw{name: v}, snapshotJSON)
		next := a
		if json.Unmarshal(one, &next, snapshotJSON) == nil {
			a = next
		}
	}
	return a
}

// Summary returns a tool call on one line of limited length, as "Bash: git status",
// "Read: src/x.go (lines 10–29)" or "Edit: 2 files". It returns "" if the block is
// not a tool.
func (b *Block) Summary() string {
	if b.Tool == nil {
		return ""
	}
	name := b.Tool.Name
	if server, tool, ok := splitMCPName(name); ok {
		name = server + "/" + tool
	}
	return withSubject(name, b.Tool.subject())
}

// splitMCPName splits "mcp__server__tool".
func splitMCPName(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "__")
}

func (t *Tool) subject() string {
	a := t.parseArgs()
	if x, ok := t.exchangeFrom(a); ok && !t.Spawn {
		return x.describe()
	}
	switch t.Name {
	case "Read":
		file := cmp.Or(t.FilePath, a.FilePath, a.Path)
		switch {
		case a.Offset > 0 && a.Limit > 0:
			return fmt.Sprintf("%s (lines %d–%d)", file, a.Offset, a.Offset+a.Limit-1)
		case a.Offset > 0:
			return fmt.Sprintf("%s (from line %d)", file, a.Offset)
		case a.Limit > 0:
			return fmt.Sprintf("%s (%s)", file, plural(a.Limit, "line", "lines"))
		}
		return file
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		if n := max(len(t.Changes), len(a.Changes)); n > 1 {
			return plural(n, "file", "files")
		}
		file := cmp.Or(t.FilePath, a.FilePath, a.Notebook, a.Path)
		if file == "" && len(t.Changes) == 1 {
			file = t.Changes[0].Path
		}
		return file
	case "Grep":
		pattern := cmp.Or(t.Pattern, a.Pattern)
		if in := cmp.Or(t.SearchPath, a.Path); in != "" && pattern != "" {
			return fmt.Sprintf("%q in %s", pattern, in)
		} else if pattern != "" {
			return fmt.Sprintf("%q", pattern)
		}
	case "WebFetch":
		if u, err := url.Parse(cmp.Or(t.URL, a.URL)); err == nil && u.Host != "" {
			return u.Host + strings.TrimSuffix(u.Path, "/")
		}
	}
	if t.Spawn {
		return cmp.Or(a.Description, t.Subagent, a.Prompt)
	}
	return cmp.Or(t.Command, a.Command, t.Query, t.URL, t.Pattern, a.Pattern, t.FilePath, a.FilePath, a.Query, a.URL, t.SearchPath, a.Path, a.Description, string(t.Input))
}

// Line returns the progress on one line, as "half of it, 1 of 2, 30s"; "" of nil.
func (p *Progress) Line() string {
	if p == nil {
		return ""
	}
	var parts []string
	if text := foldLine(p.Message); text != "" {
		parts = append(parts, text)
	}
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case p.Progress != nil && p.Total != nil:
		parts = append(parts, number(*p.Progress)+" of "+number(*p.Total))
	case p.Progress != nil:
		parts = append(parts, number(*p.Progress))
	}
	if p.ElapsedMS > 0 {
		parts = append(parts, (time.Duration(p.ElapsedMS) * time.Millisecond).Round(time.Second).String())
	}
	return strings.Join(parts, ", ")
}

// Outcome returns the result of a tool call on one line, as "12 matches \"x\"",
// "exit 1", "+3 −1" or a short output. It returns "" if the block is not a tool.
func (b *Block) Outcome() string {
	if b.Tool == nil {
		return ""
	}
	t := b.Tool
	switch b.Status {
	case Writing:
		return "writing…"
	case Running:
		if p := t.Progress.Line(); p != "" {
			return "running, " + p
		}
		return "running…"
	case Denied:
		return "denied"
	case Interrupted:
		return "interrupted"
	case Backgrounded:
		return "in the background"
	}
	if t.ExitCode != nil && *t.ExitCode != 0 {
		return fmt.Sprintf("exit %d", *t.ExitCode)
	}
	if b.Status == Failed {
		return cmp.Or(foldLine(t.Output), "failed")
	}
	lines := 0
	for l := range strings.Lines(t.Output) {
		if strings.TrimSpace(l) != "" {
			lines++
		}
	}
	switch t.Name {
	case "Glob":
		return strings.TrimSpace(plural(lines, "file", "files") + " " + cmp.Or(t.Pattern, t.parseArgs().Pattern))
	case "Grep":
		return fmt.Sprintf("%s %q", plural(lines, "match", "matches"), cmp.Or(t.Pattern, t.parseArgs().Pattern))
	case "Read":
		if lines > 0 || len(t.Media) == 0 {
			return plural(lines, "line", "lines") + t.cutMark()
		}
	}
	if len(t.Changes) > 0 {
		added, removed := countChanges(t.Changes)
		return fmt.Sprintf("+%d −%d", added, removed)
	}
	if lines == 1 && len(t.Output) < 80 {
		return foldLine(t.Output)
	}
	if lines > 0 {
		return plural(lines, "line", "lines") + t.cutMark()
	}
	return cmp.Or(t.mediaNames(), "done")
}

// cutMark marks the outcome of a tool whose output the runtime cut.
func (t *Tool) cutMark() string {
	if t.Truncated {
		return ", cut"
	}
	return ""
}

// mediaNames returns the types of the media that the tool gave, as "image/png, image/png".
func (t *Tool) mediaNames() string {
	names := make([]string, len(t.Media))
	for i, m := range t.Media {
		names[i] = cmp.Or(m.MIME, string(m.Kind))
	}
	return foldLine(strings.Join(names, ", "))
}

// countChanges counts the lines that changes add and remove.
func countChanges(changes []event.FileChange) (added, removed int) {
	for _, c := range changes {
		inHunk := false // "--- a" and "+++ b" before a hunk name the files
		for l := range strings.Lines(c.Diff) {
			switch {
			case c.Kind == event.ChangeAdd:
				added++
			case c.Kind == event.ChangeDelete:
				removed++
			case strings.HasPrefix(l, "@@"):
				inHunk = true
			case !inHunk && (strings.HasPrefix(l, "--- ") || strings.HasPrefix(l, "+++ ")):
			case l[0] == '+':
				added++
			case l[0] == '-':
				removed++
			case !strings.ContainsRune(" \\\r\n", rune(l[0])):
				inHunk = false // for example "diff --git a b" before the next file
			}
		}
	}
	return added, removed
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Category is the kind of work of a tool, for example to choose an icon.
type Category string

// The values of Category.
const (
	CategoryFile     Category = "file" // reads and searches
	CategoryCode     Category = "code" // changes files
	CategoryTerminal Category = "terminal"
	CategoryWeb      Category = "web"
	CategoryAgent    Category = "agent"
	CategoryMCP      Category = "mcp"
	CategoryOther    Category = "other"
)

// Category returns the kind of work of the tool.
func (t *Tool) Category() Category {
	_, tool, ok := splitMCPName(t.Name)
	switch {
	case ok && tool == agentsMessage:
		return CategoryAgent
	case ok:
		return CategoryMCP
	}
	switch t.Name {
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		return CategoryCode
	case "WebSearch", "WebFetch":
		return CategoryWeb
	case "Read", "Glob", "Grep", "LS":
		return CategoryFile
	}
	if _, ok := t.exchangeFrom(t.parseArgs()); ok || t.Spawn {
		return CategoryAgent
	}
	switch {
	case t.IsFileRead:
		return CategoryFile
	case t.Name == "Bash", t.Command != "":
		return CategoryTerminal
	}
	return CategoryOther
}

// Exchange is a tool call by which an agent deals with another one.
type Exchange struct {
	Verb string   `json:"verb"`         // spawn, send, wait, resume, interrupt, close
	To   []string `json:"to,omitempty"` // ids or names of sub-agents; none if it waits for any
	Text string   `json:"text,omitempty"`
}

// agentsMessage is the tool of package exchange. A runtime may put the name of a server
// before it.
const agentsMessage = "agents_message"

// exchangeVerbs are the tools by which agents deal with each other. The answer is in
// the tool's output and in the blocks of the sub-agent, which may be below the tool
// or in an earlier message.
var exchangeVerbs = map[string]string{
	agentsMessage: "send",
	"SendMessage": "send", "sendInput": "send", "interacted": "send", "wait": "wait",
	"resumeAgent": "resume", "interrupted": "interrupt", "TaskStop": "interrupt", "closeAgent": "close",
}

// Exchange returns how the call deals with another agent, and false if it does not.
func (t *Tool) Exchange() (Exchange, bool) { return t.exchangeFrom(t.parseArgs()) }

func (t *Tool) exchangeFrom(a toolArgs) (Exchange, bool) {
	if t.Spawn {
		return Exchange{Verb: "spawn", To: oneOrNone(t.Subagent), Text: a.Prompt}, true
	}
	name := t.Name
	if _, tool, is := splitMCPName(name); is && tool == agentsMessage {
		name = tool
	}
	verb, ok := exchangeVerbs[name]
	if !ok {
		return Exchange{}, false
	}
	to := a.Receivers
	if len(to) == 0 {
		to = oneOrNone(cmp.Or(a.To, a.AgentPath, a.TaskID))
	}
	return Exchange{Verb: verb, To: to, Text: cmp.Or(a.Message, a.Prompt)}, true
}

func oneOrNone(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func (x Exchange) describe() string {
	names := make([]string, len(x.To))
	for i, to := range x.To {
		names[i] = path.Base(to)
	}
	to := strings.Join(names, ", ")
	if x.Text == "" {
		return to
	}
	return strings.TrimPrefix(to+": "+x.Text, ": ")
}

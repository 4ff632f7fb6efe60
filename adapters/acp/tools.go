package acp

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// toolCall is a tool call as its updates have made it.
type toolCall struct {
	id, name, title string
	kind            string
	input           jsontext.Value
	path            string
	diffs           []content
	content         jsontext.Value // that has the diffs
	output          string         // so far, of a terminal
	terminal        string         // of the client, that shows the output; or ""
	text            string         // of the content, as emitted last
	exitCode        *int
	rawOutput       jsontext.Value
	mcp             bool // the input names a tool of an MCP server
	started         bool // tool_start was emitted
	denied          bool
}

// toolNames are the names of events for the kinds of tools of the protocol.
var toolNames = map[string]string{
	"execute": "Bash", "read": "Read", "edit": "Edit", "delete": "Delete", "move": "Move", "search": "Grep", "fetch": "WebFetch",
}

func (t *translator) call(id string) *toolCall {
	for _, c := range t.calls {
		if c.id == id {
			return c
		}
	}
	return nil
}

// startupPrefix begins the id under which codex-acp reports, in the form of a tool call, that
// a server of MCP did not start.
const startupPrefix = "mcp_startup."

// updateTool handles tool_call and tool_call_update. A member that an update has replaces
// what was there; one that it lacks stays.
func (t *translator) updateTool(u *update, b []byte) {
	if t.endedCall[string(u.ToolCallID)] {
		return // its turn has ended, or it has its result
	}
	if strings.HasPrefix(string(u.ToolCallID), startupPrefix) {
		t.l.Notice(event.LevelWarning, event.NoticeWarning, "an MCP server failed to start: "+cmp.Or(textsOf(u.Content), string(u.Title)), nil)
		return
	}
	if t.isCompaction(u, b) {
		return
	}
	t.emitProgress(u)
	if u.Kind == "tool_call_update" && t.call(string(u.ToolCallID)) == nil && u.Title == "" && u.ToolKind == "" {
		return // of a call that was not announced: claude-agent-acp states the time of others so
	}
	if t.neverMade(u) {
		t.forget(t.merge(u))
		return
	}
	sc := t.scope("an update of a tool call", b)
	if sc == nil || u.ToolCallID == "" {
		return
	}
	t.copilotGoesOn(sc)
	c := t.merge(u)
	ends := u.Status == "completed" || u.Status == "failed"
	// Some agents announce a call before its input is known.
	if w := c.webAction(); ends || w != nil && !w.isEmpty() || w == nil && (u.Kind == "tool_call_update" || !isEmpty(c.input) && !t.agent.partialInput || u.Status != "pending") {
		t.startTool(sc, c)
	}
	t.emitOutput(sc, c, u, ends)
	if ends {
		t.endTool(sc, c, u.Status == "failed")
	}
}

// merge applies an update to its call.
func (t *translator) merge(u *update) *toolCall {
	c := t.call(string(u.ToolCallID))
	if c == nil {
		c = &toolCall{id: string(u.ToolCallID)}
		t.calls = append(t.calls, c)
	}
	m := lenient.Decode[meta](u.Meta)
	c.name = cmp.Or(string(m.ClaudeCode.ToolName), string(u.Name), c.name)
	if c.name == "" && u.Title != "" && t.agent.toolName != nil {
		c.name = t.agent.toolName(t, u)
	}
	c.title, c.kind = cmp.Or(string(u.Title), c.title), cmp.Or(string(u.ToolKind), c.kind)
	c.mcp = c.mcp || lenient.IsTrue(m.MCP)
	// claude-agent-acp asks for the approval of a plan without the plan, which it showed before.
	if u.Kind == "" && t.agent.inputIsChange && c.started {
		u.RawInput = nil
	}
	if !isEmpty(u.RawInput) || isEmpty(c.input) && len(u.RawInput) > 0 && u.RawInput.Kind() != 'n' {
		c.input = u.RawInput.Clone()
	}
	if len(u.RawOutput) > 0 {
		c.rawOutput = u.RawOutput.Clone()
	}
	if locations := lenient.Decode[[]content](u.Locations); len(locations) > 0 {
		c.path = string(locations[0].Path)
	}
	if len(u.Content) > 0 {
		c.diffs = slices.DeleteFunc(lenient.Decode[[]content](u.Content), func(x content) bool { return x.Type != "diff" })
		c.content = u.Content.Clone()
		c.terminal = cmp.Or(terminalOf(u.Content), c.terminal)
	}
	raw := lenient.Decode[struct {
		Code jsontext.Value `json:"exit_code"`
	}](u.RawOutput)
	for _, code := range []jsontext.Value{m.Exit.Code, raw.Code} {
		if code.Kind() == '0' {
			n := int(lenient.Decode[lenient.Num](code))
			c.exitCode = &n
		}
	}
	return c
}

// searchTitle is the title of a command that searches files. codex-acp shows what it searches
// for there alone.
var searchTitle = regexp.MustCompile(`^Search for '(.*)' in (.*)$`)

// input holds the members of the inputs of tools that events repeat.
type input struct {
	Command    jsontext.Value `json:"command"`
	Path       lenient.Str    `json:"path"`
	FilePath   lenient.Str    `json:"file_path"`
	Written    lenient.Str    `json:"filePath"` // by opencode
	Pattern    lenient.Str    `json:"pattern"`
	Query      lenient.Str    `json:"query"`
	URL        lenient.Str    `json:"url"`
	Background jsontext.Value `json:"run_in_background"` // by claude-agent-acp
}

// toolName is the name that the agent gives the tool, or that of its kind, or its title.
func (c *toolCall) toolName() string {
	if isShell(c.name) { // of a command that reads, codex-acp shows what it reads and not the command
		if c.command() != "" || toolNames[c.kind] == "" {
			return toolNames["execute"]
		}
		return toolNames[c.kind]
	}
	if w := c.webAction(); w != nil {
		return w.toolName()
	}
	if in := lenient.Decode[mcpInput](c.input); c.mcp && in.Server != "" {
		return "mcp__" + string(in.Server) + "__" + string(in.Tool)
	}
	return cmp.Or(c.name, toolNames[c.kind], c.title, "tool")
}

// mcpInput is the input of a call that names a tool of an MCP server.
type mcpInput struct {
	Server    lenient.Str    `json:"server"`
	Tool      lenient.Str    `json:"tool"`
	Arguments jsontext.Value `json:"arguments"`
}

// isShell reports whether a tool runs a command of a shell, by its name.
func isShell(name string) bool {
	return slices.Contains([]string{"bash", "shell", "exec_command", "terminal", "run_command"}, strings.ToLower(name))
}

// heartbeat is what claude-agent-acp puts between the id of a call and a number, in the id of an
// update that states how long the call runs.
const heartbeat = "-heartbeat-"

// emitProgress emits what an update states about a call that runs.
func (t *translator) emitProgress(u *update) {
	sc := t.l.Turn()
	if sc == nil || len(u.Meta) == 0 {
		return
	}
	m := lenient.Decode[meta](u.Meta)
	r := lenient.Decode[struct {
		Elapsed float64 `json:"elapsedTimeSeconds"`
	}](m.ClaudeCode.Response)
	id, _, _ := strings.Cut(string(u.ToolCallID), heartbeat)
	sc.Emit(event.ToolProgress{ToolUseID: id, Message: string(m.Progress.Message), ElapsedMS: max(0, int64(r.Elapsed*1000))})
}

func (t *translator) startTool(sc *ledger.Scope, c *toolCall) {
	if c.started {
		return
	}
	c.started = true
	t.endBlock(sc, event.BlockComplete)
	sc.ToolStart(c.start())
	if c.name == "TodoWrite" && t.agent.plansByTool {
		t.openCodePlan(sc, c)
	}
}

// start returns the event for the start of a call.
func (c *toolCall) start() event.ToolStart {
	in := lenient.Decode[input](c.input)
	d := event.ToolStart{ToolUseID: c.id, Tool: c.toolName(), Input: inputOf(c.input)}
	if c.mcp {
		d.Input = inputOf(lenient.Decode[mcpInput](c.input).Arguments)
		return d
	}
	if w := c.webAction(); w != nil {
		d.Input = w.input()
		if d.Tool == "WebSearch" {
			d.Pattern = string(w.Query)
		}
		return d
	}
	if isEmpty(c.input) && len(c.diffs) > 0 {
		d.Input = lenient.Encode(struct {
			Content jsontext.Value `json:"content"`
		}{c.content}) // codex-acp shows what an edit changes there alone
	}
	path := cmp.Or(string(in.FilePath), string(in.Written), string(in.Path), c.path)
	if path == "" && len(c.diffs) > 0 {
		path = string(c.diffs[0].Path)
	}
	d.Command, d.Background = c.command(), string(in.Background) == "true"
	switch c.kind {
	case "read":
		d.FilePath, d.IsFileRead = path, true
	case "edit", "delete", "move":
		d.FilePath = path
	case "search":
		d.Pattern, d.SearchPath, d.IsFileRead = string(in.Pattern), string(in.Path), true
		if m := searchTitle.FindStringSubmatch(c.title); m != nil && isEmpty(c.input) {
			d.Pattern, d.SearchPath = m[1], m[2]
		}
	}
	switch d.Tool {
	case "WebSearch":
		d.Query = string(in.Query)
	case "WebFetch":
		d.URL = string(in.URL)
	}
	return d
}

// command returns the command of a call, which some agents send as a list of words.
func (c *toolCall) command() string {
	in := lenient.Decode[input](c.input)
	if in.Command.Kind() == '"' {
		return string(lenient.Decode[lenient.Str](in.Command))
	}
	var words []string
	for _, w := range lenient.Decode[[]lenient.Str](in.Command) {
		words = append(words, string(w))
	}
	return strings.Join(words, " ")
}

// inputOf returns a copy of an input; without one, an object without members.
func inputOf(v jsontext.Value) event.Raw {
	if len(v) == 0 || v.Kind() == 'n' {
		return event.Raw("{}")
	}
	return v.Clone()
}

// emitOutput emits what is new in the output of a running call. Content replaces the content
// before it, so only what goes beyond it is new; the data of a terminal is appended.
func (t *translator) emitOutput(sc *ledger.Scope, c *toolCall, u *update, ends bool) {
	if t.agent.outputAfterEnd {
		return
	}
	m := lenient.Decode[meta](u.Meta)
	if data := string(m.Output.Data); data != "" {
		c.output += data
		if !ends {
			sc.Emit(event.ToolOutput{ToolUseID: c.id, Text: data})
		}
		return
	}
	text := string(m.WholeOutput.Data)
	if text == "" && c.kind == "execute" {
		text = textsOf(u.Content)
	}
	if text == "" || ends || t.agent.cutsOutput && strings.HasPrefix(text, cutOutput) && len(text) > minCutOutput {
		return
	}
	if rest, ok := strings.CutPrefix(text, c.text); ok {
		sc.Emit(event.ToolOutput{ToolUseID: c.id, Text: rest})
		c.text = text
	}
}

// deniedPrefix precedes the reason of a denial without a question, as
// claude-agent-acp writes it into the content. The model gets the reason alone.
const deniedPrefix = "Permission denied: "

// endTool emits the result of a call.
func (t *translator) endTool(sc *ledger.Scope, c *toolCall, failed bool) {
	if t.live != nil && t.live.terminals[c.terminal] != nil {
		t.keepOutput(c.terminal, t.live.terminals[c.terminal])
	}
	d := event.ToolResult{ToolUseID: c.id, Output: c.result(t.m.Params), IsError: failed, Status: event.ToolOK, ExitCode: c.exitCode}
	if failed {
		d.Status = event.ToolError
	}
	if t.agent.completeResult != nil {
		t.agent.completeResult(t, c, &d)
	}
	t.nameless = "" // the model is asked again
	start, denied := c.start(), t.callResolved(c, failed)
	denied = denied || t.agent.rejected != nil && t.agent.rejected(c)
	if why, ok := strings.CutPrefix(d.Output, deniedPrefix); ok && failed && len(c.rawOutput) == 0 {
		d.Output, denied = why, true
	}
	switch {
	case denied:
		d.Status, d.IsError = event.ToolDenied, true
	case failed && t.stopped:
		d.Status = event.ToolInterrupted
	case start.IsFileRead && !failed:
		d.IsFileRead, d.FilePath = true, start.FilePath
	case !failed && d.Changes == nil:
		d.Changes = c.changes()
	}
	d.Media = t.media(c)
	sc.ToolResult(d)
	t.forget(c)
}

// media returns the images, sounds and documents that a call gave: those of its content, or
// else of what an MCP server returned, which codex-acp shows in the raw output alone.
func (t *translator) media(c *toolCall) []event.Media {
	if shown := t.l.MediaIn(c.content); shown != nil {
		return shown
	}
	return t.l.MediaIn(c.mcpReturned().Result.Content)
}

// result returns the output of a call that ends with these parameters: that of its terminal,
// the raw output, or the text of its content.
func (c *toolCall) result(p jsontext.Value) string {
	if c.output != "" {
		return c.output
	}
	raw := c.rawOutput
	if raw.Kind() == '"' {
		return string(lenient.Decode[lenient.Str](raw))
	}
	out := lenient.Decode[struct {
		Formatted  lenient.Str `json:"formatted_output"`
		Aggregated lenient.Str `json:"aggregated_output"`
		Output     lenient.Str `json:"output"`
		Stdout     lenient.Str `json:"stdout"`
	}](raw)
	if c.mcp {
		return c.mcpResult()
	}
	if text := cmp.Or(out.Formatted, out.Aggregated, out.Output, out.Stdout); text != "" {
		return string(text)
	}
	if raw.Kind() == '[' { // of claude-agent-acp, whose content describes it
		return textsOf(raw)
	}
	u := lenient.Decode[update](lenient.Decode[params](p).Update)
	return textsOf(u.Content)
}

// mcpReturned is what an MCP server returned, as codex-acp shows it.
type mcpReturned struct {
	Result struct {
		Content jsontext.Value `json:"content"`
	} `json:"result"`
	Error struct {
		Message lenient.Str `json:"message"`
	} `json:"error"`
}

func (c *toolCall) mcpReturned() mcpReturned { return lenient.Decode[mcpReturned](c.rawOutput) }

// mcpResult returns the texts of the result of a tool of an MCP server, or its error.
func (c *toolCall) mcpResult() string {
	out := c.mcpReturned()
	return cmp.Or(string(out.Error.Message), textsOf(out.Result.Content))
}

// changes returns the changes of files that the content of a call shows.
func (c *toolCall) changes() (out []event.FileChange) {
	for _, d := range c.diffs {
		x := event.FileChange{Path: string(d.Path), Kind: event.ChangeUpdate}
		if d.OldText == nil {
			x.Kind, x.Diff = event.ChangeAdd, string(d.NewText)
		} else {
			x.Diff = unifiedDiff(string(*d.OldText), string(d.NewText))
		}
		out = append(out, x)
	}
	return out
}

// forget removes a call that has its result. Later updates of it are ignored.
func (t *translator) forget(c *toolCall) {
	t.markEnded(c.id)
	t.calls = slices.DeleteFunc(t.calls, func(x *toolCall) bool { return x == c })
}

// markEnded records that a call has ended; "" is none.
func (t *translator) markEnded(call string) {
	if call == "" {
		return
	}
	if t.endedCall == nil {
		t.endedCall = map[string]bool{}
	}
	t.endedCall[call] = true
}

// forgetCalls removes the calls of a turn that has ended.
func (t *translator) forgetCalls() {
	for _, c := range slices.Clone(t.calls) {
		t.forget(c)
	}
}

// setExitCode adds the exit code of a command to its result; v is no number if the agent states
// none.
func setExitCode(d *event.ToolResult, v jsontext.Value) {
	if v.Kind() != '0' {
		return
	}
	code := int(lenient.Decode[lenient.Num](v))
	d.ExitCode = &code
	if code != 0 && !d.IsError {
		d.Status, d.IsError = event.ToolError, true
	}
}

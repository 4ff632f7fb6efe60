package codex

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// toolItem handles the items that are tool calls. It reports false for a type
// that it does not know.
func (t *translator) toolItem(th *thread, sc *ledger.Scope, it *item, completed bool) bool {
	if _, ok := toolStart(it); !ok {
		return false
	}
	id := string(it.ID)
	o := th.find(id)
	if o == nil || o.asked {
		// 0.98 asks first: an item that begins or ends then was decided on.
		t.granted(th, id, it.Status != "declined")
	}
	if o == nil {
		o = t.begin(th, sc, it)
	}
	o.asked = false
	// A command that waits for a permission has no process yet.
	o.ran = o.ran || it.ProcessID != "" || it.Source == "unifiedExecStartup" || it.Source == "userShell"
	if it.ProcessID != "" {
		o.process = string(it.ProcessID)
	}
	o.mortal = it.Source == "" // versions that name a source let it live
	if !completed {
		return true
	}
	d := toolResult(it)
	if it.Type == "fileChange" {
		d.Output = string(o.output)
	}
	if t.live != nil && t.live.unanswered(id) {
		d.Status, d.Output = event.ToolInterrupted, "" // the runtime waits no longer
		d.IsError = true
	}
	t.granted(th, id, d.Status != event.ToolDenied)
	sc.ToolResult(d)
	th.drop(o)
	t.agents(th, it)
	return true
}

// begin announces the tool call of an item.
func (t *translator) begin(th *thread, sc *ledger.Scope, it *item) *openItem {
	start, _ := toolStart(it)
	o := newItem(start.ToolUseID, string(it.Type))
	o.name, o.tool, o.input, o.match = start.Tool, start.Tool, start.Input, string(it.Server)
	if it.Type == "commandExecution" {
		o.name = start.Command
	}
	if sc.ToolStart(start) {
		th.add(o)
	}
	return o
}

type commandInput struct {
	Command string          `json:"command"`
	Cwd     string          `json:"cwd,omitempty"`
	Actions []commandAction `json:"commandActions,omitempty"`
}

type changesInput struct {
	Changes jsontext.Value `json:"changes"`
}

type agentInput struct {
	Prompt    string   `json:"prompt,omitempty"`
	Model     string   `json:"model,omitempty"`
	Receivers []string `json:"receiverThreadIds,omitempty"`
	AgentPath string   `json:"agentPath,omitempty"`
}

type pathInput struct {
	FilePath string `json:"file_path"`
}

type queryInput struct {
	Query string `json:"query"`
}

// toolStart maps an item to the event that announces the tool.
func toolStart(it *item) (event.ToolStart, bool) {
	d := event.ToolStart{ToolUseID: string(it.ID)}
	switch it.Type {
	case "commandExecution":
		d.Tool, d.Command = "Bash", unwrap(string(it.Command))
		d.Input = encode(commandInput{string(it.Command), string(it.Cwd), it.CommandActions})
		r := readsOf(it.CommandActions)
		d.IsFileRead, d.FilePath, d.Pattern, d.SearchPath = r.is, r.file, r.pattern, r.searchPath
	case "fileChange":
		changes := changesOf(it.Changes)
		d.Tool = editOrWrite(changes)
		d.Input = encode(changesInput{orNull(it.Changes)})
		if len(changes) == 1 {
			d.FilePath = changes[0].Path
		}
	case "mcpToolCall":
		d.Tool = mcpName(first(it.Server, it.ServerName), first(it.Tool, it.ToolName))
		d.Input = it.Arguments
	case "dynamicToolCall":
		d.Tool, d.Input = string(it.Tool), it.Arguments
		if it.Namespace != "" {
			d.Tool = string(it.Namespace) + "__" + d.Tool
		}
	case "functionCall", "functionCallOutput":
		d.Tool, d.Input = first(it.Name, it.Tool), it.Arguments
	case "collabAgentToolCall":
		d.Tool = string(it.Tool)
		in := agentInput{Prompt: string(it.Prompt), Model: string(it.Model)}
		for _, r := range it.ReceiverThreadIDs {
			in.Receivers = append(in.Receivers, string(r))
		}
		d.Input = encode(in)
		if it.Tool == "spawnAgent" {
			d.Tool, d.SubagentSpawn, d.SubagentName = "Task", true, agentName(string(it.Prompt))
		}
	case "subAgentActivity":
		d.Tool, d.Input = string(it.Kind), encode(agentInput{Model: string(it.Model), AgentPath: string(it.AgentPath)})
		if it.Kind == "started" {
			d.Tool, d.SubagentSpawn, d.SubagentName = "Task", true, string(it.AgentPath)
		}
	case "webSearch":
		d.Tool, d.Pattern = "WebSearch", string(it.Query)
		d.Input = encode(queryInput{string(it.Query)})
	case "imageView":
		d.Tool, d.FilePath, d.IsFileRead = "Read", string(it.Path), true
		d.Input = encode(pathInput{string(it.Path)})
	case "imageGeneration":
		d.Tool = "ImageGeneration"
	case "sleep":
		d.Tool = "Sleep"
	default:
		return d, false
	}
	if d.Tool == "" {
		d.Tool = string(it.Type)
	}
	return d, true
}

// toolResult maps a completed item to the tool's result.
func toolResult(it *item) event.ToolResult {
	d := event.ToolResult{ToolUseID: string(it.ID), Status: event.ToolOK}
	switch it.Status {
	case "failed":
		d.Status = event.ToolError
	case "declined":
		d.Status = event.ToolDenied
	case "interrupted":
		d.Status = event.ToolInterrupted
	case "completed":
	default:
		if it.ExitCode.n != 0 { // a status that is not known: the exit code tells
			d.Status = event.ToolError
		}
	}
	switch it.Type {
	case "commandExecution":
		d.Output, d.ExitCode = string(it.AggregatedOutput), it.ExitCode.ptr()
		if it.Source == "userShell" && it.ExitCode.n < 0 { // only the user's own is killed with its turn
			d.Status = event.ToolInterrupted
		}
		if r := readsOf(it.CommandActions); r.is {
			d.IsFileRead, d.FilePath = true, r.file
		}
	case "fileChange":
		d.Changes = changesOf(it.Changes)
		if len(d.Changes) == 1 {
			d.FilePath = d.Changes[0].Path
		}
	case "mcpToolCall":
		d.Output = contentText(read[mcpResult](it.Result).Content)
		if e := read[rpcError](it.Error).Message; e != "" {
			d.Output = string(e)
			if strings.Contains(d.Output, "user rejected") {
				d.Status = event.ToolDenied
			}
		}
	case "dynamicToolCall":
		d.Output = contentText(it.ContentItems)
	case "functionCall", "functionCallOutput":
		d.Output = contentText(it.Output)
	case "collabAgentToolCall":
		// Only who waits is told what a sub-agent said; others get ids and states.
		if all := statesOf(it.AgentsStates); len(all) == 1 && it.Tool == "wait" {
			d.Output = all[0].message
		}
	case "webSearch":
		d.Output = string(it.Query)
		if a := it.Action.v; a != nil && d.Output == "" {
			d.Output = first(a.Query, a.URL, a.Pattern)
		}
	case "imageView":
		d.FilePath, d.IsFileRead = string(it.Path), true
	case "imageGeneration":
		d.Output = string(it.SavedPath)
	}
	d.IsError = d.Status != event.ToolOK
	return d
}

type mcpResult struct {
	Content jsontext.Value `json:"content"`
}

type contentItem struct {
	Type str `json:"type"`
	Text str `json:"text"`
}

// contentText is the text of a list of content items, or of a plain string.
// Texts are joined by line ends, as the runtime does for the model; what is no
// text (images) is left out. A list of other things stays JSON.
func contentText(v jsontext.Value) string {
	if len(v) == 0 || v.Kind() == 'n' {
		return ""
	}
	if v.Kind() == '"' {
		return scalar(v)
	}
	items := read[list[contentItem]](v)
	var texts []string
	for _, it := range items {
		switch it.Type {
		case "text", "inputText", "":
			if it.Text == "" && it.Type == "" {
				return string(v)
			}
			texts = append(texts, string(it.Text))
		case "image", "inputImage", "audio", "resource", "resource_link":
		default:
			return string(v)
		}
	}
	return strings.Join(texts, "\n")
}

type fileChange struct {
	Path str            `json:"path"`
	Kind jsontext.Value `json:"kind"`
	Diff str            `json:"diff"`
}

type changeKind struct {
	Type     str `json:"type"`
	MovePath str `json:"move_path"`
}

func changesOf(v jsontext.Value) []event.FileChange {
	var out []event.FileChange
	for _, c := range read[list[fileChange]](v) {
		kind, k := scalarOf(c.Kind), read[changeKind](c.Kind)
		if kind == "" {
			kind = string(k.Type)
		}
		ch := event.FileChange{Path: string(c.Path), MoveTo: string(k.MovePath), Diff: string(c.Diff)}
		switch ch.Kind = event.ChangeKind(kind); {
		case ch.MoveTo != "":
			ch.Kind = event.ChangeMove
		case ch.Kind != event.ChangeAdd && ch.Kind != event.ChangeDelete:
			ch.Kind = event.ChangeUpdate // whatever a newer version calls it, the file is another one now
		}
		out = append(out, ch)
	}
	return out
}

// editOrWrite: a patch that only adds files is a Write, any other an Edit.
func editOrWrite(changes []event.FileChange) string {
	for _, c := range changes {
		if c.Kind != "add" {
			return "Edit"
		}
	}
	if len(changes) == 0 {
		return "Edit"
	}
	return "Write"
}

func mcpName(server, tool string) string { return "mcp__" + server + "__" + tool }

func first(all ...str) string {
	for _, s := range all {
		if s != "" {
			return string(s)
		}
	}
	return ""
}

func orNull(v jsontext.Value) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value("null")
	}
	return v
}

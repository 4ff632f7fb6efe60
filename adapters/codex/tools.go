package codex

import (
	"cmp"
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/codexcli"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// handleToolItem handles items that are tool calls. It returns false for an
// unknown type.
func (t *translator) handleToolItem(th *thread, sc *ledger.Scope, it *item, completed bool) bool {
	start, ok := toolStart(it)
	if !ok {
		return false
	}
	id := string(it.ID)
	if it.Type == "webSearch" && !completed && start.Query == "" && start.URL == "" {
		sc.ToolUnnamed(id) // the runtime does not state yet whether it searches or opens a page
		return true
	}
	o := th.findItem(id)
	if o == nil || o.fromQuestion {
		// 0.98 asks first: an item that starts or ends after that was decided
		// on.
		t.resolveFromItem(th, id, it.Status != "declined")
	}
	if o == nil {
		o = t.startTool(th, sc, it)
	}
	o.fromQuestion = false
	// A command that waits for a permission has no process yet.
	o.started = o.started || it.ProcessID != "" || it.Source == "unifiedExecStartup" || it.Source == "userShell"
	if it.ProcessID != "" {
		o.process = string(it.ProcessID)
	}
	o.killedByInterrupt = it.Source == "" // versions that name a source do not kill it
	if !completed {
		return true
	}
	d := toolResult(t.l, it)
	if it.Type == "fileChange" {
		d.Output = string(o.output)
	}
	if t.live != nil && t.live.cancelRunOf(id) {
		d.Status, d.Output = event.ToolInterrupted, "" // the runtime does not wait for the reply any more
		d.IsError = true
	}
	t.resolveFromItem(th, id, d.Status != event.ToolDenied)
	sc.ToolResult(d)
	th.dropItem(o)
	t.linkSubagents(th, it)
	return true
}

// startTool announces the tool call of an item.
func (t *translator) startTool(th *thread, sc *ledger.Scope, it *item) *openItem {
	start, _ := toolStart(it)
	o := newItem(start.ToolUseID, string(it.Type))
	o.name, o.tool, o.input, o.server = start.Tool, start.Tool, start.Input, string(it.Server)
	if it.Type == "commandExecution" {
		o.name = start.Command
	}
	if sc.ToolStart(start) {
		th.addItem(o)
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

// webAction returns what a web search does; nothing if it has not ended.
func (it *item) webAction() codexcli.WebAction {
	if a := it.Action.V; a != nil {
		return codexcli.WebAction{Query: string(a.Query), URL: string(a.URL), Pattern: string(a.Pattern)}
	}
	return codexcli.WebAction{}
}

// toolStart returns the event that announces the tool of an item.
func toolStart(it *item) (event.ToolStart, bool) {
	d := event.ToolStart{ToolUseID: string(it.ID)}
	switch it.Type {
	case "commandExecution":
		d.Tool, d.Command = "Bash", codexcli.Unwrap(string(it.Command))
		d.Input = lenient.Encode(commandInput{string(it.Command), string(it.Cwd), it.CommandActions})
		r := readsOf(it.CommandActions)
		d.IsFileRead, d.FilePath, d.Pattern, d.SearchPath = r.is, r.file, r.pattern, r.searchPath
	case "fileChange":
		changes := changesOf(it.Changes)
		d.Tool = patchTool(changes)
		d.Input = lenient.Encode(changesInput{orNull(it.Changes)})
		if len(changes) == 1 {
			d.FilePath = changes[0].Path
		}
	case "mcpToolCall":
		d.Tool = mcpName(string(cmp.Or(it.Server, it.ServerName)), string(cmp.Or(it.Tool, it.ToolName)))
		d.Input = it.Arguments
	case "dynamicToolCall":
		d.Tool, d.Input = string(it.Tool), it.Arguments
		if it.Namespace != "" {
			d.Tool = string(it.Namespace) + "__" + d.Tool
		}
	case "functionCall", "functionCallOutput":
		d.Tool, d.Input = string(cmp.Or(it.Name, it.Tool)), it.Arguments
	case "collabAgentToolCall":
		d.Tool = string(it.Tool)
		in := agentInput{Prompt: string(it.Prompt), Model: string(it.Model)}
		for _, r := range it.ReceiverThreadIDs {
			in.Receivers = append(in.Receivers, string(r))
		}
		d.Input = lenient.Encode(in)
		if it.Tool == "spawnAgent" {
			d.Tool, d.SubagentSpawn, d.SubagentName = "Task", true, agentName(string(it.Prompt))
		}
	case "subAgentActivity":
		d.Tool, d.Input = string(it.Kind), lenient.Encode(agentInput{Model: string(it.Model), AgentPath: string(it.AgentPath)})
		if it.Kind == "started" {
			d.Tool, d.SubagentSpawn, d.SubagentName = "Task", true, string(it.AgentPath)
		}
	case "webSearch":
		codexcli.WebStart(&d, string(it.Query), it.webAction())
	case "imageView":
		d.Tool, d.FilePath, d.IsFileRead = "Read", string(it.Path), true
		d.Input = lenient.Encode(pathInput{string(it.Path)})
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

// toolResult returns the result of a completed item.
func toolResult(l *ledger.Ledger, it *item) event.ToolResult {
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
		if it.ExitCode.Value() != 0 { // unknown status: the exit code decides
			d.Status = event.ToolError
		}
	}
	switch it.Type {
	case "commandExecution":
		d.Output, d.ExitCode = string(it.AggregatedOutput), lenient.Int(it.ExitCode)
		if it.Source == "userShell" && it.ExitCode.Value() < 0 { // only the user's own command is killed with its turn
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
		content := lenient.Decode[mcpResult](it.Result).Content
		d.Output, d.Media = contentText(content), l.MediaIn(content)
		if e := lenient.Decode[rpcError](it.Error).Message; e != "" {
			d.Output = string(e)
			if strings.Contains(d.Output, "user rejected") {
				d.Status = event.ToolDenied
			}
		}
	case "dynamicToolCall":
		d.Output, d.Media = contentText(it.ContentItems), imagesOf(l, it.ContentItems)
	case "functionCall", "functionCallOutput":
		d.Output = contentText(it.Output)
	case "collabAgentToolCall":
		// Only wait returns the text of a sub-agent; other tools return ids and
		// states.
		if all := parseAgentStates(it.AgentsStates); len(all) == 1 && it.Tool == "wait" {
			d.Output = all[0].message
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
	Type lenient.Str `json:"type"`
	Text lenient.Str `json:"text"`

	ImageURL lenient.Str `json:"imageUrl"`
}

// contentText returns the text of a list of content items, or of a plain
// string. Texts are joined by newlines, as the runtime does for the model;
// images and the like are omitted. A list of unknown items stays JSON.
func contentText(v jsontext.Value) string {
	if len(v) == 0 || v.Kind() == 'n' {
		return ""
	}
	if v.Kind() == '"' {
		return lenient.Text(v)
	}
	items := lenient.Decode[lenient.List[contentItem]](v)
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

// imagesOf returns the images that a tool of the client gave, as data URLs.
func imagesOf(l *ledger.Ledger, v jsontext.Value) (out []event.Media) {
	for _, it := range lenient.Decode[lenient.List[contentItem]](v) {
		head, data, _ := strings.Cut(string(it.ImageURL), ",")
		mime, isData := strings.CutPrefix(head, "data:")
		mime, isBase64 := strings.CutSuffix(mime, ";base64")
		if b, err := base64.StdEncoding.DecodeString(data); isData && isBase64 && err == nil {
			out = append(out, l.MediaOf(event.MediaKindOf(mime), mime, b))
		}
	}
	return out
}

type fileChange struct {
	Path lenient.Str    `json:"path"`
	Kind jsontext.Value `json:"kind"`
	Diff lenient.Str    `json:"diff"`
}

type changeKind struct {
	Type     lenient.Str `json:"type"`
	MovePath lenient.Str `json:"move_path"`
}

func changesOf(v jsontext.Value) []event.FileChange {
	var out []event.FileChange
	for _, c := range lenient.Decode[lenient.List[fileChange]](v) {
		kind, k := lenient.Text(c.Kind), lenient.Decode[changeKind](c.Kind)
		if kind == "" {
			kind = string(k.Type)
		}
		ch := event.FileChange{Path: string(c.Path), MoveTo: string(k.MovePath), Diff: string(c.Diff)}
		switch ch.Kind = event.ChangeKind(kind); {
		case ch.MoveTo != "":
			ch.Kind = event.ChangeMove
		case ch.Kind != event.ChangeAdd && ch.Kind != event.ChangeDelete:
			ch.Kind = event.ChangeUpdate // for any kind of a newer version the file has changed
		}
		out = append(out, ch)
	}
	return out
}

// patchTool returns Write for a patch that only adds files, else Edit.
func patchTool(changes []event.FileChange) string {
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

func orNull(v jsontext.Value) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value("null")
	}
	return v
}

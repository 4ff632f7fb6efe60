package codex

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// rolloutItem holds the members of an item of a rollout file that differ from those of the app
// server in more than the spelling of their names.
type rolloutItem struct {
	Type     lenient.Str               `json:"type"`
	ID       lenient.Str               `json:"id"`
	ClientID lenient.Str               `json:"client_id"`
	Text     lenient.Str               `json:"text"`
	Content  jsontext.Value            `json:"content"`
	Summary  lenient.List[lenient.Str] `json:"summary_text"`
	Raw      lenient.List[lenient.Str] `json:"raw_content"`

	Command jsontext.Value             `json:"command"`
	Actions lenient.List[parsedAction] `json:"parsed_cmd"`
	Cwd     lenient.Str                `json:"cwd"`
	Path    lenient.Str                `json:"path"`
	Tool    lenient.Str                `json:"tool"`
	Changes jsontext.Value             `json:"changes"`
}

type parsedAction struct {
	Type  lenient.Str `json:"type"`
	Cmd   lenient.Str `json:"cmd"`
	Path  lenient.Str `json:"path"`
	Query lenient.Str `json:"query"`
}

// rolloutInput is a part of a message of the user.
type rolloutInput struct {
	Type     lenient.Str `json:"type"`
	Text     lenient.Str `json:"text"`
	ImageURL lenient.Str `json:"image_url"`
	Path     lenient.Str `json:"path"`
}

// handleCompleted handles an item of the app server. It reports whether the item is known.
func (r *rollout) handleCompleted(v jsontext.Value, turn string) bool {
	p := lenient.Decode[rolloutItem](v)
	r.items = true
	switch p.Type {
	case "UserMessage":
		r.addUserMessage(p.userMessage())
	case "AgentMessage", "Plan":
		r.turn()
		r.held = slices.DeleteFunc(r.held, func(h rolloutPayload) bool { return h.Type == "message" && h.ID == p.ID })
		r.emitHeld()
		r.addText(fromEvent, string(p.ID), string(p.Text)+textOfParts(p.Content))
	case "Reasoning":
		for _, text := range append(slices.Clone(p.Summary), p.Raw...) {
			r.addThinking(fromEvent, string(text))
		}
	case "ContextCompaction", "EnteredReviewMode", "ExitedReviewMode", "HookPrompt": // other lines have what is in them
	default:
		return r.addTool(p.item(v), turn)
	}
	return true
}

// addTool emits the call of an item and its result, unless its turn has ended. It reports whether
// the item is a call.
func (r *rollout) addTool(it *item, turn string) bool {
	start, ok := toolStart(it)
	if !ok {
		return false
	}
	if r.bounded && (r.l.Turn() == nil || turn != "" && r.turnID != "" && turn != r.turnID) {
		return true
	}
	sc := r.turn()
	r.held = slices.DeleteFunc(r.held, func(h rolloutPayload) bool {
		return string(h.CallID) == start.ToolUseID || string(h.ID) == start.ToolUseID
	})
	if !sc.ToolOpen(start.ToolUseID) {
		sc.ToolStart(start)
	}
	sc.ToolResult(toolResult(r.l, it))
	return true
}

// userMessage returns the event of a message of the user.
func (p *rolloutItem) userMessage() event.UserMessage {
	d := event.UserMessage{MessageID: string(p.ClientID)}
	if d.MessageID == "" {
		d.MessageID = string(p.ID)
	}
	var texts []string
	for _, in := range lenient.Decode[lenient.List[rolloutInput]](p.Content) {
		switch in.Type {
		case "text":
			texts = append(texts, string(in.Text))
		case "image", "local_image":
			d.Attachments = append(d.Attachments, event.Attachment{Kind: "image", Path: string(in.Path), URL: string(in.ImageURL)})
		}
	}
	d.Text = strings.Join(texts, "\n")
	return d
}

// item returns the item as the app server sends it.
func (p *rolloutItem) item(v jsontext.Value) *item {
	var members map[string]jsontext.Value
	_ = json.Unmarshal(v, &members, lenient.Options) // without members the type is not known
	renamed := map[string]jsontext.Value{}
	for name, member := range members {
		renamed[camel(name)] = member
	}
	it := lenient.Decode[item](lenient.Encode(renamed))
	it.Type = p.Type
	if p.Type != "" {
		it.Type = lenient.Str(strings.ToLower(string(p.Type[:1]))) + p.Type[1:]
	}
	it.Cwd, it.Path = lenient.Str(pathOf(string(p.Cwd))), lenient.Str(pathOf(string(p.Path)))
	it.Status, it.Source = lenient.Str(camel(string(it.Status))), lenient.Str(camel(string(it.Source)))
	switch it.Type {
	case "commandExecution":
		it.Command = lenient.Str(commandOf(p.Command))
		for _, a := range p.Actions {
			it.CommandActions = append(it.CommandActions, commandAction{Type: lenient.Str(camel(string(a.Type))), Command: a.Cmd, Path: a.Path, Query: a.Query})
		}
	case "fileChange":
		it.Changes = changeList(p.Changes)
	case "collabAgentToolCall":
		it.Tool = lenient.Str(camel(string(p.Tool)))
	}
	return &it
}

// commandOf returns a command that is a list of words as one line, without the shell around it.
func commandOf(v jsontext.Value) string {
	words := lenient.Decode[lenient.List[lenient.Str]](v)
	if len(words) == 3 && (words[1] == "-lc" || words[1] == "-c") {
		return string(words[2])
	}
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
		if strings.ContainsAny(out[i], " \t\n\"'") {
			out[i] = strconv.Quote(out[i])
		}
	}
	return strings.Join(out, " ")
}

// changeList returns changes by path as the list that the app server sends.
func changeList(v jsontext.Value) jsontext.Value {
	changes := lenient.Decode[map[string]struct {
		Type    lenient.Str    `json:"type"`
		Content lenient.Str    `json:"content"`
		Diff    lenient.Str    `json:"unified_diff"`
		MoveTo  jsontext.Value `json:"move_path"`
	}](v)
	type kind struct {
		Type     lenient.Str    `json:"type"`
		MovePath jsontext.Value `json:"move_path,omitzero"`
	}
	type change struct {
		Path string `json:"path"`
		Kind kind   `json:"kind"`
		Diff string `json:"diff"`
	}
	out := []change{}
	for _, path := range slices.Sorted(maps.Keys(changes)) {
		c := changes[path]
		out = append(out, change{path, kind{c.Type, c.MoveTo}, string(c.Content + c.Diff)})
	}
	return lenient.Encode(out)
}

// pathOf returns the path of a file URL, and other texts as they are.
func pathOf(s string) string {
	if u, err := url.Parse(s); err == nil && u.Scheme == "file" {
		return u.Path
	}
	return s
}

// camel returns a name of the rollout file as the app server spells it.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// camelInfo returns what is known of an error as the app server spells it: a word, or an object
// whose member has an object.
func camelInfo(v jsontext.Value) jsontext.Value {
	switch v.Kind() {
	case '"':
		return lenient.Encode(camel(lenient.Text(v)))
	case '{':
		out := map[string]jsontext.Value{}
		for name, member := range lenient.Decode[map[string]jsontext.Value](v) {
			if member.Kind() == '{' {
				member = camelInfo(member)
			}
			out[camel(name)] = member
		}
		return lenient.Encode(out)
	}
	return v
}

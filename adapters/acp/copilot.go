package acp

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// Copilot reports some things in pieces of text that look like those of the model: that it repeats
// a request, that the user has denied a call, that a file was written, or that the turn has failed.
// Each is one whole piece.
var (
	copilotRetry = regexp.MustCompile(`^Info: (.*[Rr]etrying\.\.\.)$`)
	copilotInfo  = regexp.MustCompile(`^Info: (Operation cancelled by user|[/<][^\n]*)$`)
	copilotError = regexp.MustCompile(`^Error: `)
)

// copilotText handles a piece of text of Copilot that holds its own words, and reports whether it
// was one. The words of an error end the turn. If the turn goes on, they were the model's.
func (t *translator) copilotText(sc *ledger.Scope, text string) bool {
	if m := copilotRetry.FindStringSubmatch(text); m != nil {
		t.abandonBlock(sc)
		t.nameless = ""
		sc.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeRetry, Text: m[1]})
		return true
	}
	if copilotInfo.MatchString(text) { // the results of the calls state it
		return true
	}
	if t.copilotFailure == "" && copilotError.MatchString(text) {
		t.copilotFailure = text
		return true
	}
	t.copilotGoesOn(sc)
	return false
}

// copilotGoesOn emits what was held as the words of an error: the turn did not end with them.
func (t *translator) copilotGoesOn(sc *ledger.Scope) {
	if text := t.copilotFailure; text != "" {
		t.copilotFailure = ""
		t.addText(sc, &update{Kind: "agent_message_chunk"}, text)
	}
}

// copilotTool returns the name of a tool of Copilot, which names the tool of an MCP server in the
// title of its call, behind the server and a dash.
func (t *translator) copilotTool(u *update) string {
	if t.live == nil || u.ToolKind != "other" {
		return ""
	}
	for _, m := range t.live.o.MCP {
		if tool, ok := strings.CutPrefix(string(u.Title), m.Name+"-"); ok {
			return "mcp__" + m.Name + "__" + tool
		}
	}
	return ""
}

// copilotErrorOf returns the error by which a turn of Copilot ends.
func copilotErrorOf(words string) event.Error {
	words = strings.TrimPrefix(words, "Error: ")
	last := words
	if _, after, ok := strings.Cut(words, "Last error: "); ok {
		last = after
	}
	return event.Error{Code: codeOf(rpcError{}, last), Message: words}
}

// messageID returns the id of the message of a piece. An agent that names no messages begins one
// with a turn, after the result of a call and after a retry; it has a number in the session.
func (t *translator) messageID(u *update) string {
	if u.MessageID != "" || !t.agent.namesNoMessages {
		return string(u.MessageID)
	}
	if t.nameless == "" {
		t.messages++
		t.nameless = "reply-" + strconv.Itoa(t.messages)
	}
	return t.nameless
}

// copilotOutput is the raw output of a call of Copilot.
type copilotOutput struct {
	Content lenient.Str `json:"content"`
	Message lenient.Str `json:"message"` // of a call that failed
	Code    lenient.Str `json:"code"`
	Parts   []struct {
		Type lenient.Str    `json:"type"`
		Exit jsontext.Value `json:"exitCode"`
	} `json:"contents"`
}

// isRejected reports whether Copilot states that a call was not allowed.
func (c *toolCall) isRejected() bool {
	return lenient.Decode[copilotOutput](c.rawOutput).Code == "rejected"
}

// completeCopilot completes the result of a call of Copilot, whose status does not tell how a
// command has ended.
func (t *translator) completeCopilot(c *toolCall, d *event.ToolResult) {
	out := lenient.Decode[copilotOutput](c.rawOutput)
	d.Output = cmp.Or(string(out.Content), string(out.Message))
	if c.kind == "read" && strings.HasPrefix(d.Output, "\ndiff --git ") {
		d.Output = "" // an empty file, shown as a diff without lines, which the model does not get
	}
	if d.Changes = c.changes(); len(d.Changes) > 0 && lenient.Decode[map[string]jsontext.Value](c.input)["file_text"] != nil {
		in := lenient.Decode[struct {
			Text lenient.Str `json:"file_text"`
		}](c.input)
		d.Changes = []event.FileChange{{Path: d.Changes[0].Path, Kind: event.ChangeAdd, Diff: string(in.Text)}} // the tool writes new files alone
	}
	if d.IsError {
		d.Changes = nil
	}
	for _, p := range out.Parts {
		if p.Type == "shell_exit" {
			setExitCode(d, p.Exit)
		}
	}
}

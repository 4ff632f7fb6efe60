package claude

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// storedLine is a line of a session file (~/.claude/projects/FOLDER/SESSION.jsonl), in which the
// runtime keeps the messages of a session. It has sessionId in place of session_id, and no line
// for the beginning or the end of a turn.
type storedLine struct {
	Type      lenient.Str `json:"type"`
	SessionID lenient.Str `json:"sessionId"`
	UUID      lenient.Str `json:"uuid"`
	Version   lenient.Str `json:"version"`
	Cwd       lenient.Str `json:"cwd"`
	Sidechain bool        `json:"isSidechain"` // of a sub-agent
	Meta      bool        `json:"isMeta"`      // the runtime's own words to the model
	Summary   bool        `json:"isCompactSummary"`
	Message   stored      `json:"message"`
}

type stored struct {
	Model   lenient.Str    `json:"model"`
	Content jsontext.Value `json:"content"`
}

// storedTurns is the state of a transcript that is a session file.
type storedTurns struct {
	open     bool // the turn has no line for its end
	subagent bool // a notice about messages of sub-agents was emitted
}

// handleStored handles a line of a session file. It reports whether the line is done with; the
// messages of the model and the results of tools are as on stdout.
func (n *normalizer) handleStored(b []byte) bool {
	if !bytes.Contains(b, []byte(`"sessionId"`)) {
		return false
	}
	var l storedLine
	if json.Unmarshal(b, &l, lenient.Options) != nil || l.SessionID == "" {
		return false
	}
	switch l.Type {
	case "user", "assistant":
	case "summary", "file-history-snapshot", "queue-operation", "last-prompt", "custom-title", "ai-title", "agent-name", "permission-mode", "mode":
		return true // the runtime's own notes about the session
	default:
		return false
	}
	n.t.l.SessionReady(event.SessionReady{Runtime: runtimeName, RuntimeVersion: string(l.Version), ProviderSessionID: string(l.SessionID), Model: string(l.Message.Model), Cwd: string(l.Cwd)})
	n.t.provider = string(l.SessionID)
	if l.Sidechain {
		if !n.stored.subagent {
			n.stored.subagent = true
			n.t.l.Notice(event.LevelWarning, event.NoticeUnknownMessage, "the session file has messages of sub-agents, which are not shown", nil)
		}
		return true
	}
	if l.Type == "assistant" {
		n.beginStoredTurn()
		return false
	}
	words, isMessage := storedText(l.Message.Content)
	switch {
	case !isMessage:
		return false // the results of tools
	case l.Meta || l.Summary:
		return true
	}
	n.endStoredTurn()
	n.beginStoredTurn()
	if s := n.t.l.Turn(); s != nil {
		s.Emit(event.UserMessage{MessageID: string(l.UUID), Text: words, Via: event.ViaTurn})
	}
	return true
}

// beginStoredTurn begins a turn unless one runs.
func (n *normalizer) beginStoredTurn() {
	n.t.startTurn()
	n.stored.open = true
}

// endStoredTurn ends the turn as its result would.
func (n *normalizer) endStoredTurn() {
	if n.stored.open && n.t.l.Turn() != nil {
		n.t.handleResult(&line{})
	}
	n.stored.open = false
}

// storedText returns the text of a message of the user. isMessage is false for results of tools.
func storedText(content jsontext.Value) (words string, isMessage bool) {
	if content.Kind() == '"' {
		_ = json.Unmarshal(content, &words, lenient.Options) // the decoder has checked the string
		return words, true
	}
	var parts []struct {
		Type lenient.Str `json:"type"`
		Text lenient.Str `json:"text"`
	}
	if json.Unmarshal(content, &parts, lenient.Options) != nil {
		return "", false
	}
	for _, p := range parts {
		if p.Type == "tool_result" {
			return "", false
		}
		words += string(p.Text)
	}
	return words, true
}

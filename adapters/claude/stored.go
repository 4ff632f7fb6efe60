package claude

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// storedLine is a line of a session file (~/.claude/projects/FOLDER/SESSION.jsonl), in which the
// runtime keeps the messages of a session, or of the file of a sub-agent beside it. It has sessionId
// in place of session_id, and no line for the beginning or the end of a turn.
type storedLine struct {
	Type       lenient.Str                   `json:"type"`
	Subtype    lenient.Str                   `json:"subtype"`
	SessionID  lenient.Str                   `json:"sessionId"`
	UUID       lenient.Str                   `json:"uuid"`
	Version    lenient.Str                   `json:"version"`
	Cwd        lenient.Str                   `json:"cwd"`
	Sidechain  bool                          `json:"isSidechain"` // of a sub-agent
	Meta       bool                          `json:"isMeta"`      // the runtime's own words to the model
	Summary    bool                          `json:"isCompactSummary"`
	Status     lenient.Opt[lenient.Num]      `json:"apiErrorStatus"`
	Decision   lenient.Opt[storedDecision]   `json:"permissionDecision"`
	APIError   bool                          `json:"isApiErrorMessage"`
	Denial     lenient.Str                   `json:"toolDenialKind"`
	Message    lenient.Opt[stored]           `json:"message"`
	Content    lenient.Str                   `json:"content"` // of system
	Attachment lenient.Opt[storedAttachment] `json:"attachment"`
	Origin     lenient.Opt[storedOrigin]     `json:"origin"`
	Compact    lenient.Opt[storedCompaction] `json:"compactMetadata"`
	Error      lenient.Opt[storedError]      `json:"error"` // of system; a word otherwise
	Result     lenient.Opt[storedResult]     `json:"toolUseResult"`
}

type stored struct {
	Model   lenient.Str    `json:"model"`
	Content jsontext.Value `json:"content"`
}

type storedAttachment struct {
	Type     lenient.Str    `json:"type"`
	Prompt   jsontext.Value `json:"prompt"`      // of queued_command
	Mode     lenient.Str    `json:"commandMode"` // "": older versions queue messages only
	SourceID lenient.Str    `json:"source_uuid"`
}

type storedDecision struct {
	Decision lenient.Str `json:"decision"`
}

type storedOrigin struct {
	Kind lenient.Str `json:"kind"`
}

type storedCompaction struct {
	Trigger lenient.Str `json:"trigger"`
	Post    lenient.Num `json:"postTokens"`
}

type storedError struct {
	Formatted lenient.Str `json:"formatted"`
	Message   lenient.Str `json:"message"`
}

type storedResult struct {
	AgentID lenient.Str `json:"agentId"` // of a sub-agent
}

// storedPart is a part of a message of the user.
type storedPart struct {
	Type   lenient.Str `json:"type"`
	Text   lenient.Str `json:"text"`
	CallID lenient.Str `json:"tool_use_id"`
	Source lenient.Opt[struct {
		MIME lenient.Str `json:"media_type"`
		Data lenient.Str `json:"data"`
	}] `json:"source"`
}

// storedTurns is the state of a transcript that is a session file.
type storedTurns struct {
	open      bool     // the turn has no line for its end
	asked     bool     // the turn has a message of the user
	compacted bool     // the user has compacted the session: the turn is about nothing else
	failed    bool     // the last reply of the turn was an error of the API
	status    *float64 // of that error, if it has one
	main      bool     // the file has messages that are not of a sub-agent
	subagent  bool     // a notice about messages of sub-agents was emitted
}

// storedNotes are the types of lines that hold the runtime's own notes about the session. Some
// have no sessionId.
var storedNotes = []string{
	"summary", "file-history-snapshot", "file-history-delta", "queue-operation", "last-prompt", "custom-title", "ai-title", "agent-name",
	"permission-mode", "mode", "atis-latch", "api-request", "api-request-blob", "api-request-shape", "cost-state", "tools-used", "progress",
}

// handleStoredLine handles a line that may be one of a session file.
func (n *normalizer) handleStoredLine(b []byte) {
	if !n.handleStored(b) {
		// The messages of the model and the results of tools are as on stdout, but for this name.
		n.t.handleLine(bytes.Replace(b, []byte(`"toolUseResult":`), []byte(`"tool_use_result":`), 1))
	}
}

// handleStored handles a line of a session file. It reports whether the line is done with.
func (n *normalizer) handleStored(b []byte) bool {
	if !bytes.Contains(b, []byte(`"sessionId"`)) && !bytes.Contains(b, []byte(`"file-history-`)) {
		return false
	}
	l := lenient.Decode[storedLine](b)
	if slices.Contains(storedNotes, string(l.Type)) {
		return true
	}
	if l.SessionID == "" {
		return false
	}
	switch l.Type {
	case "user", "assistant", "system", "attachment":
	default:
		return false
	}
	if l.Type == "attachment" && l.Attachment.Value().Type != "queued_command" {
		return true // what the runtime adds to a prompt
	}
	n.t.provider = string(l.SessionID)
	n.t.l.SessionReady(event.SessionReady{Runtime: runtimeName, RuntimeVersion: string(l.Version), ProviderSessionID: string(l.SessionID), Model: string(l.Message.Value().Model), Cwd: string(l.Cwd)})
	if l.Sidechain && n.stored.main {
		n.noticeSubagent(event.NoticeUnknownMessage, "the session file has messages of sub-agents, which are not shown")
		return true
	}
	n.stored.main = n.stored.main || !l.Sidechain
	switch l.Type {
	case "system":
		return n.handleStoredSystem(&l)
	case "attachment":
		n.handleStoredQueued(&l)
		return true
	case "assistant":
		n.beginStoredTurn()
		n.stored.failed, n.stored.status = l.APIError, nil
		if v := l.Status.V; v != nil {
			status := float64(*v)
			n.stored.status = &status
		}
		return false
	}
	return n.handleStoredUser(&l)
}

// noticeSubagent emits a notice about messages of sub-agents, once.
func (n *normalizer) noticeSubagent(code event.NoticeCode, text string) {
	if !n.stored.subagent {
		n.stored.subagent = true
		n.t.l.Notice(event.LevelWarning, code, text, nil)
	}
}

// handleStoredSystem handles a note of the runtime that is part of the conversation.
func (n *normalizer) handleStoredSystem(l *storedLine) bool {
	switch l.Subtype {
	case "compact_boundary":
		if l.Compact.Value().Trigger == "manual" { // the command comes after it
			n.endStoredTurn()
			n.beginStoredTurn()
			n.stored.compacted = true
		}
		n.t.l.Emit(event.Compaction{Phase: event.PhaseStart})
		n.t.l.Emit(event.Compaction{Phase: event.PhaseEnd, Tokens: int64(l.Compact.Value().Post)})
	case "api_error":
		n.t.l.Notice(event.LevelWarning, event.NoticeRetry, string(cmp.Or(l.Error.Value().Formatted, l.Error.Value().Message)), nil)
	case "local_command":
		if command := commandIn(string(l.Content)); command != "" {
			n.addStoredMessage(l, event.UserMessage{Text: command})
			return true
		}
		n.addStoredOutput(l, string(l.Content))
	case "stop_hook_summary", "turn_duration", "away_summary", "microcompact_boundary":
	default:
		return false
	}
	return true
}

// handleStoredQueued handles a message that the running turn took.
func (n *normalizer) handleStoredQueued(l *storedLine) {
	a := l.Attachment.Value()
	d := storedMessage(a.Prompt)
	if a.Mode != "prompt" && a.Mode != "" || strings.HasPrefix(d.Text, taskTag) {
		return
	}
	n.beginStoredTurn()
	d.MessageID, d.Via = string(cmp.Or(a.SourceID, l.UUID)), event.ViaMerge
	n.t.l.Emit(d)
}

// taskTag begins the message by which the runtime tells the model that a task has ended.
const taskTag = "<task-notification>"

// handleStoredUser handles a line of a user: a message, results of tools, or the runtime's words.
func (n *normalizer) handleStoredUser(l *storedLine) bool {
	parts := storedParts(l.Message.Value().Content)
	if slices.ContainsFunc(parts, func(p storedPart) bool { return p.Type == "tool_result" }) {
		for _, p := range parts {
			if l.Decision.Value().Decision == "reject" || l.Denial != "" && l.Denial != "user-rejected" { // a stop has that one too
				n.t.denied[toolKey("", string(p.CallID))] = true
			}
		}
		if l.Result.Value().AgentID != "" {
			n.noticeSubagent(event.NoticeWarning, "the messages of sub-agents are not in this file: beside it, subagents has a file for each")
		}
		return false
	}
	d := storedMessage(l.Message.Value().Content)
	switch {
	case l.Meta || l.Summary:
	case l.Origin.Value().Kind == "task-notification" || strings.HasPrefix(d.Text, taskTag):
		n.endStoredTurn()
		n.t.turn.taskEnded = true
		n.beginStoredTurn()
		n.stored.asked = true
	case strings.HasPrefix(d.Text, "[Request interrupted by user"):
		reason := "aborted_streaming"
		if strings.Contains(d.Text, "for tool use") {
			reason = "aborted_tools"
		}
		n.endStoredTurnWith(&line{TerminalReason: lenient.Str(reason)})
	case strings.HasPrefix(d.Text, "<local-command-stdout>"), strings.HasPrefix(d.Text, "<local-command-stderr>"), strings.HasPrefix(d.Text, "<bash-stdout>"):
		n.addStoredOutput(l, d.Text)
	default:
		d.Text = cmp.Or(commandIn(d.Text), d.Text)
		n.addStoredMessage(l, d)
	}
	return true
}

// addStoredMessage emits a message of the user, which begins a turn.
func (n *normalizer) addStoredMessage(l *storedLine, d event.UserMessage) {
	if !n.stored.compacted || n.stored.asked {
		n.endStoredTurn()
	}
	n.beginStoredTurn()
	n.stored.asked = true
	d.MessageID, d.Via = string(l.UUID), event.ViaTurn
	n.t.l.Emit(d)
}

// addStoredOutput emits the output of a command of the user as the text that it is on stdout.
func (n *normalizer) addStoredOutput(l *storedLine, text string) {
	text = tag.ReplaceAllString(text, "")
	if n.stored.compacted || strings.TrimSpace(text) == "" {
		return
	}
	n.beginStoredTurn()
	if s := n.t.l.Turn(); s != nil {
		n.t.emitWhole(s, string(l.UUID), text)
	}
}

var (
	tag         = regexp.MustCompile(`</?(local-command|bash)-std(out|err)>`)
	commandTags = regexp.MustCompile(`(?s)<(command-name|command-args|bash-input)>(.*?)</`)
)

// commandIn returns what the user typed for a command, or "" if a text is not about one.
func commandIn(text string) string {
	if !strings.HasPrefix(text, "<command-") && !strings.HasPrefix(text, "<bash-input>") {
		return ""
	}
	var name, args string
	for _, m := range commandTags.FindAllStringSubmatch(text, -1) {
		switch m[1] {
		case "command-name":
			name = m[2]
		case "bash-input":
			name = "! " + m[2]
		default:
			args = m[2]
		}
	}
	return strings.TrimSpace(name + " " + args)
}

// beginStoredTurn begins a turn unless one runs.
func (n *normalizer) beginStoredTurn() {
	if n.t.l.Turn() == nil {
		n.stored.asked, n.stored.compacted, n.stored.failed = false, false, false
	}
	n.t.startTurn()
	n.stored.open = true
}

// endStoredTurn ends the turn as its result would.
func (n *normalizer) endStoredTurn() {
	if f := n.t.turn.failure; f != nil && n.stored.failed {
		n.endStoredTurnWith(&line{IsError: true, Result: lenient.Str(f.Message), APIErrorStatus: n.stored.status})
		return
	}
	n.endStoredTurnWith(&line{})
}

func (n *normalizer) endStoredTurnWith(result *line) {
	if n.stored.open && n.t.l.Turn() != nil {
		n.t.handleResult(result)
	}
	n.stored.open = false
}

// storedParts returns the parts of a message of the user, whose content may be a text.
func storedParts(content jsontext.Value) []storedPart {
	if content.Kind() == '"' {
		return []storedPart{{Type: "text", Text: lenient.Decode[lenient.Str](content)}}
	}
	return lenient.Decode[lenient.List[storedPart]](content)
}

// storedMessage returns the event of a message of the user.
func storedMessage(content jsontext.Value) (d event.UserMessage) {
	var texts []string
	for _, p := range storedParts(content) {
		kind := "file"
		switch p.Type {
		case "text":
			texts = append(texts, string(p.Text))
			continue
		case "image":
			kind = "image"
		}
		d.Attachments = append(d.Attachments, event.Attachment{Kind: kind, URL: "data:" + string(p.Source.Value().MIME) + ";base64," + string(p.Source.Value().Data)})
	}
	d.Text = strings.Join(texts, "\n")
	return d
}

package codexexec

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// translator turns lines into events. live is nil for a transcript.
type translator struct {
	l      *ledger.Ledger
	live   *client
	ready  event.SessionReady
	thread string // the runtime's id

	kept     bool   // the runtime has stored it: a turn of it has ended by itself, or shown something
	opened   bool   // the process has opened the thread
	begun    bool   // the process has begun its turn
	failure  string // an error that may be the end of the turn
	retrying bool
	lastText string // of the turn's last message
	steps    []event.PlanStep
}

func newTranslator(l *ledger.Ledger, o adapters.Options, live *client) *translator {
	return &translator{l: l, live: live, thread: o.Resume, kept: o.Resume != "", ready: event.SessionReady{
		Runtime: runtimeName, ProviderSessionID: o.Resume, Resumed: o.Resume != "", Model: o.Model, Cwd: o.Dir, Mode: o.Mode,
	}}
}

// handleLine handles one line of stdout. The caller has set the ledger's time.
func (t *translator) handleLine(b []byte) {
	b = bytes.Trim(b, " \t\r")
	if len(b) == 0 {
		return
	}
	var m message
	if err := json.Unmarshal(b, &m, lenient.Options); err != nil {
		t.l.Unreadable(b)
		return
	}
	switch m.Type {
	case "thread.started":
		t.threadStarted(string(m.ThreadID))
	case "turn.started":
		t.turnStarted()
	case "turn.completed":
		t.survived()
		t.turnCompleted(lenient.Decode[usage](m.Usage), m.Usage != nil)
	case "turn.failed":
		t.turnFailed(cmp.Or(string(lenient.Decode[withMessage](m.Error).Message), t.failure))
	case "error":
		t.handleError(string(m.Message))
	case "item.started", "item.updated", "item.completed":
		it := lenient.Decode[item](m.Item)
		if it.Type == "" || !t.handleItem(&it, string(m.Type)) {
			t.l.Unknown(strings.TrimRight(string(m.Type)+" "+string(it.Type), " "), b)
		}
	default:
		t.l.Unknown(cmp.Or(string(m.Type), "a message"), b)
	}
}

// threadStarted handles the first line of each process. All processes of a session have the
// same thread.
func (t *translator) threadStarted(id string) {
	if t.live == nil && t.l.Turn() != nil { // the end of the process before is not in a transcript
		t.l.Error(event.Error{Code: event.ErrorCrash, Message: "the runtime exited during a turn"})
	}
	if t.live == nil {
		t.processEnded()
		t.begun = false
	}
	if id != "" {
		t.thread = id
	}
	t.opened, t.ready.ProviderSessionID = true, t.thread
	t.l.SessionReady(t.ready)
}

func (t *translator) turnStarted() {
	if t.begun && t.live != nil {
		return // a repeated line
	}
	var m *adapters.Message
	if t.live != nil {
		m = t.live.Message()
	}
	t.beginTurn(m)
	if t.live != nil {
		t.live.TurnBegan()
	}
}

// beginTurn starts the turn of a message, which nil is not known.
func (t *translator) beginTurn(m *adapters.Message) {
	t.begun, t.lastText, t.steps, t.retrying = true, "", nil, false
	if m == nil {
		t.l.SessionReady(t.ready) // a transcript may begin later
		t.l.TurnStart(event.TurnStart{Cause: event.CauseUser})
		return
	}
	sc := t.l.TurnStart(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{m.ID}})
	sc.Emit(event.UserMessage{MessageID: m.ID, Text: m.Text, Attachments: m.Attachments, Via: event.ViaTurn})
}

func (t *translator) turnCompleted(u usage, stated bool) {
	sc := t.l.Turn()
	if sc == nil {
		return
	}
	if stated {
		// The tokens of the whole thread, of resumed processes too.
		sc.Emit(event.Usage{Scope: event.ScopeSession, Tokens: event.Tokens{Input: int64(u.Input), Cached: int64(u.Cached), Output: int64(u.Output), Reasoning: int64(u.Reasoning)}})
	}
	if t.lastText != "" {
		sc.Emit(event.Result{Text: t.lastText})
	}
	t.l.Done(event.Done{})
	t.kept = true
}

func (t *translator) turnFailed(msg string) {
	t.failure = ""
	if t.l.Turn() == nil {
		return
	}
	t.l.Error(errorOf(msg))
	t.kept = true
}

// handleError handles a line that reports an error. A retry follows some, and the end of the turn
// others: the next line, or the end of the process, shows which.
func (t *translator) handleError(msg string) {
	t.survived()
	if strings.HasPrefix(msg, "Reconnecting") {
		t.retrying = true
		t.l.Notice(event.LevelWarning, event.NoticeRetry, msg, nil)
		return
	}
	t.failure = cmp.Or(msg, "the turn failed")
}

// survived reports an error as a notice, because the turn has gone on after it.
func (t *translator) survived() {
	if t.failure != "" {
		t.l.Notice(event.LevelError, event.NoticeWarning, t.failure, nil)
		t.failure = ""
	}
}

// processEnded forgets what belongs to a process.
func (t *translator) processEnded() {
	t.failure, t.retrying, t.steps = "", false, nil
}

package acp

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// translator converts the agent's lines to events. The live adapter and transcripts
// share it. live is nil in a transcript.
type translator struct {
	l     *ledger.Ledger
	m     line
	live  *client
	agent *knownAgent // as it has introduced itself

	session     string
	version     string // in a transcript
	initialized bool   // in a transcript: the agent's first reply has come
	opened      bool   // the session is open: what comes before is history
	ready       bool   // session_ready was emitted
	mode, model string
	offers      offers
	option      modeOption // of the session
	switched    bool       // it is on
	shownMode   string     // the last that events named

	stopped   bool   // the client has cancelled the running turn
	blocks    int    // of text and reasoning, so far
	block     string // the key of the block that is streamed; "" if none is
	blockOf   string // its kind and message
	calls     []*toolCall
	questions session.Questions[*question]
	context   event.Context
	cost      *float64
	endedCall map[string]bool // tool calls of turns that have ended

	codex          codexFailure // of the running turn
	copilotFailure string       // words of Copilot that end the turn, unless it goes on
	messages       int          // that the agent has not named, so far
	nameless       string       // the id of the message that is open, of an agent that names none

	compaction string // the call by which codex-acp reports the running compaction; "" if none runs
}

// handleLine handles one line of stdout. The caller has set the ledger's time.
func (t *translator) handleLine(b []byte) {
	if len(bytes.Trim(b, " \t\r")) == 0 {
		return
	}
	t.m = line{}
	m := &t.m
	if err := json.Unmarshal(b, m, lenient.Options); err != nil {
		t.l.Unreadable(b)
		return
	}
	switch {
	case m.Method == "" && m.ID == nil:
		t.l.Unknown("a message", b)
	case m.Method == "":
		t.handleReply(b)
	case m.ID != nil:
		t.handleRequest(b)
	case m.Method == "session/update":
		t.handleUpdate(b)
	case m.Method == qwenMode:
		t.modeSet(string(lenient.Decode[update](m.Params).CurrentModeID))
	case m.Method == cancelRequest:
		t.requestWithdrawn(lenient.Decode[params](m.Params).RequestID)
	case !isIgnored(kindMethod, string(m.Method)):
		t.l.Unknown(string(m.Method), b)
	}
}

// handleReply handles a reply. A transcript has no requests: there, the members of a result
// tell which request it answers.
func (t *translator) handleReply(b []byte) {
	if t.live != nil {
		t.live.handleReply(b)
		return
	}
	m := &t.m
	if len(m.Error) > 0 {
		if e := lenient.Decode[rpcError](m.Error); (t.l.Turn() != nil || t.isFailedPrompt(e)) && (e.Code == codeInternal || e.Code == codeAuthRequired) {
			t.promptEnded(nil, e)
		}
		return
	}
	members := lenient.Decode[map[string]jsontext.Value](m.Result)
	switch {
	case members["protocolVersion"] != nil:
		t.opened, t.initialized = false, true
		info := lenient.Decode[initResult](m.Result)
		t.version, t.agent = info.version(), agentOf(&info)
	case members["stopReason"] != nil:
		t.promptEnded(m.Result, nil)
	case !t.opened && (members["sessionId"] != nil || members["modes"] != nil || members["configOptions"] != nil):
		r := lenient.Decode[openResult](m.Result)
		t.sessionOpened(cmp.Or(string(r.SessionID), t.session), r)
	case t.opened && members["configOptions"] != nil:
		t.configChanged(members["configOptions"])
	}
}

// announce emits session_ready of a transcript, before the first turn: only then are the
// settings known that the client chose.
func (t *translator) announce() {
	t.l.SessionReady(event.SessionReady{
		Runtime: runtimeName, RuntimeVersion: t.version, ProviderSessionID: t.session, Model: t.model, Mode: t.modeInForce(),
	})
	t.ready, t.shownMode = true, t.modeInForce()
}

// handleUpdate handles session/update.
func (t *translator) handleUpdate(b []byte) {
	p := lenient.Decode[params](t.m.Params)
	u := lenient.Decode[update](p.Update)
	if t.live == nil && !t.opened && !t.initialized {
		t.sessionOpened(string(p.SessionID), openResult{}) // the transcript begins later
	}
	if !t.opened {
		t.session = cmp.Or(t.session, string(p.SessionID))
		if !isKnownUpdate(string(u.Kind)) {
			t.l.Unknown(cmp.Or(string(u.Kind), "an update"), b)
		}
		if strings.HasSuffix(string(u.Kind), "_message_chunk") && t.agent.namesNoMessages {
			t.messages++ // so that a message of the history has no number of a later one
		}
		return // what an agent replays before the session is open
	}
	t.session = cmp.Or(t.session, string(p.SessionID)) // a transcript may begin with a reply that names none
	if p.SessionID != "" && string(p.SessionID) != t.session {
		t.l.Notice(event.LevelInfo, event.NoticeUnknownMessage, "an update of another session was ignored", b)
		return
	}
	switch u.Kind {
	case "agent_message_chunk", "agent_thought_chunk":
		t.addChunk(&u, b)
	case "tool_call", "tool_call_update":
		t.updateTool(&u, b)
	case "plan":
		t.emitPlan(&u, b)
	case "session_info_update":
		t.handleInfo(&u, b)
	case "current_mode_update":
		if t.live == nil && t.agent.modesInTurn {
			t.announce()
		}
		t.modeSet(string(u.CurrentModeID))
	case "config_option_update":
		t.configChanged(u.ConfigOptions)
	case "available_commands_update":
		t.commandsOffered(u.Commands)
	case "usage_update":
		if sc := t.l.Turn(); sc != nil && t.agent.asksByUsage {
			t.endBlock(sc, event.BlockComplete)
			t.nameless = ""
		}
		t.context = event.Context{Used: int64(u.Used), Window: int64(u.Size)}
		if u.Cost.Amount != nil && (u.Cost.Currency == "USD" || u.Cost.Currency == "") {
			t.cost = u.Cost.Amount
		}
	default:
		if !isIgnored(kindUpdate, string(u.Kind)) {
			t.l.Unknown(cmp.Or(string(u.Kind), "an update"), b)
		}
	}
}

// scope returns the running turn. In a transcript the first update of a turn begins it. If no
// turn runs, the update is late, and scope returns nil.
func (t *translator) scope(what string, b []byte) *ledger.Scope {
	sc := t.l.Turn()
	switch {
	case sc != nil:
		return sc
	case t.live == nil:
		t.announce()
		return t.beginTurn(event.TurnStart{Cause: event.CauseUser})
	}
	t.l.Notice(event.LevelInfo, event.NoticeLate, what+" came when no turn ran", b)
	return nil
}

// beginTurn starts a turn.
func (t *translator) beginTurn(d event.TurnStart) *ledger.Scope {
	t.stopped, t.block, t.blockOf, t.codex, t.compaction = false, "", "", codexFailure{}, ""
	t.copilotFailure, t.nameless = "", ""
	return t.l.TurnStart(d)
}

// addChunk handles a piece of text or of reasoning. Agents that send no message id send the
// pieces of a message one after the other.
func (t *translator) addChunk(u *update, b []byte) {
	c := lenient.Decode[content](u.Content)
	if c.Type != "text" {
		t.l.Unknown("a message with content of type "+strconv.Quote(string(c.Type)), b)
		return
	}
	if c.Text == "" {
		if sc := t.l.Turn(); sc != nil {
			t.endBlock(sc, event.BlockComplete) // claude-agent-acp begins each block with an empty piece, Qwen Code ends each message with one
			t.qwenUsage(u)
		}
		return
	}
	sc := t.scope("a piece of a message", b)
	if sc == nil {
		return
	}
	if t.agent.ownPiece != nil && t.agent.ownPiece(u) {
		if t.codex.failed {
			t.codex.words += string(c.Text)
			return
		}
		if t.saysCompaction(sc, string(c.Text)) {
			return
		}
		t.l.Notice(event.LevelWarning, event.NoticeWarning, string(c.Text), nil)
		return
	}
	if t.agent.ownText != nil && t.agent.ownText(t, sc, string(c.Text)) {
		return
	}
	t.addText(sc, u, string(c.Text))
}

// addText emits a piece of text or of reasoning of the model.
func (t *translator) addText(sc *ledger.Scope, u *update, text string) {
	if of := string(u.Kind) + " " + string(u.MessageID); t.block == "" || t.blockOf != of {
		t.endBlock(sc, event.BlockComplete)
		t.blocks++
		t.block, t.blockOf = strconv.Itoa(t.blocks), of
	}
	if u.Kind == "agent_thought_chunk" {
		sc.Thinking(t.block, text)
		t.messageID(u) // the reasoning is a part of it
		return
	}
	sc.Delta(t.block, t.messageID(u), text)
}

// endBlock ends the block that is streamed: what follows is of another one.
func (t *translator) endBlock(sc *ledger.Scope, status event.BlockStatus) {
	if t.block == "" {
		return
	}
	sc.ThinkingDone()
	sc.BlockEnd(t.block, status, "")
	t.block, t.blockOf = "", ""
}

// emitPlan emits the steps of a plan, of which each update has all.
func (t *translator) emitPlan(u *update, b []byte) {
	sc := t.scope("a plan", b)
	if sc == nil {
		return
	}
	d := event.Plan{Steps: []event.PlanStep{}}
	for _, e := range lenient.Decode[[]struct {
		Content lenient.Str `json:"content"`
		Status  lenient.Str `json:"status"`
	}](u.Entries) {
		step := event.PlanStep{Text: string(e.Content), Status: event.StepPending}
		switch e.Status {
		case "in_progress":
			step.Status = event.StepInProgress
		case "completed":
			step.Status = event.StepCompleted
		}
		d.Steps = append(d.Steps, step)
	}
	sc.Emit(d)
}

// promptEnded handles the reply to a message, which ends its turn.
func (t *translator) promptEnded(v jsontext.Value, err error) {
	sc := t.l.Turn()
	if sc == nil && t.live == nil {
		sc = t.scope("", nil) // the turn had no update
	}
	if sc == nil {
		return
	}
	r := lenient.Decode[promptResult](v)
	switch {
	case err != nil || r.StopReason == "cancelled":
		t.endBlock(sc, event.BlockInterrupted)
	case t.codex.failed:
		t.endBlock(sc, t.codex.blockStatus())
	case t.copilotFailure != "":
		t.endBlock(sc, event.BlockInterrupted)
	default:
		t.endBlock(sc, event.BlockComplete)
	}
	t.forgetCalls()
	for len(t.questions) > 0 {
		q := t.questions[0]
		t.markEnded(q.asker)
		t.withdraw(q)
	}
	t.emitUsage(r)
	switch {
	case err != nil:
		t.l.Error(errorOf(err))
	case r.StopReason == "cancelled":
		t.l.Done(event.Done{Stopped: true})
	case t.codex.failed:
		t.l.Error(t.codex.errorEvent())
	case t.copilotFailure != "":
		t.l.Error(copilotErrorOf(t.copilotFailure))
	case r.StopReason == "end_turn":
		t.l.Done(event.Done{})
	default:
		t.l.Done(event.Done{Reason: string(r.StopReason)})
	}
}

// emitUsage emits the tokens of the turn, if the reply states them: those of the last request
// to the model with opencode. The total has what was read from a cache once, and not every
// agent counts that as input.
func (t *translator) emitUsage(r promptResult) {
	u := r.Usage
	if u.Total == 0 || u.Input+u.Cached+u.Output == 0 { // codex-acp states a window that was exceeded as the total
		return
	}
	if t.agent.reasoningApart {
		u.Output += u.Think
	}
	d := event.Usage{Cost: t.cost, Scope: event.ScopeTurn, Tokens: event.Tokens{
		Input: int64(max(u.Total-u.Output, 0)), Cached: int64(u.Cached), Output: int64(u.Output), Reasoning: int64(u.Think), Total: int64(u.Total),
	}}
	if t.context.Window > 0 {
		c := t.context
		d.Context = &c
	}
	if t.agent.completesTokens != nil {
		t.agent.completesTokens(&d)
	}
	t.l.Emit(d)
}

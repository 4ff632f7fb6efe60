package claude

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// protocol is the live side: it performs the handshake, writes the client's
// requests and handles the replies. It implements session.Protocol.
type protocol struct {
	h                session.Host
	o                adapters.Options
	t                *translator
	requests         session.Calls[*reply] // ours
	isReady          bool
	unversioned      bool // the handshake did not name a version
	early            session.EarlyStop
	cancelResultWait func() // stops waiting for a missing result
	calls            map[string]*clientCall
	offers           offers
}

// offers are the lists of the handshake's reply.
type offers struct{ models, commands, account jsontext.Value }

func newProtocol(h session.Host, o adapters.Options, provider string) *protocol {
	p := &protocol{h: h, o: o, calls: map[string]*clientCall{}}
	p.t = newTranslator(h.Ledger())
	p.t.live = p
	p.t.provider = provider
	return p
}

var (
	_ session.Protocol = (*protocol)(nil)
	_ session.Starter  = (*protocol)(nil)
	_ session.Setter   = (*protocol)(nil)
)

// controlOut is the wire form of our requests.
type controlOut struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	Request   any    `json:"request"`
}

type replyOut struct {
	Type     string    `json:"type"`
	Response replyBody `json:"response"`
}

type replyBody struct {
	Subtype   string `json:"subtype"`
	RequestID string `json:"request_id"`
	Error     string `json:"error,omitempty"`
	Response  any    `json:"response,omitzero"`
}

func (p *protocol) writeJSON(v any) error {
	b, err := json.Marshal(v, lenient.Options, json.Deterministic(true))
	if err != nil {
		return err
	}
	p.h.Write(b)
	return nil
}

// sendRequest sends a request and calls reply with the reply, or with an error.
func (p *protocol) sendRequest(request any, reply func(*reply, error)) { p.send(request, true, reply) }

func (p *protocol) send(request any, limited bool, reply func(*reply, error)) {
	number := p.requests.Add(p.h, "", limited, reply)
	if err := p.writeJSON(controlOut{"control_request", requestPrefix + strconv.Itoa(number), request}); err != nil {
		p.requests.Take(number).Fail(err)
	}
}

// requestPrefix begins the ids of our requests.
const requestPrefix = "turnspec-"

// Start implements session.Protocol. Only Limits.Handshake bounds the request:
// with a limit of its own, a late reply would be ignored and the opening would
// wait until Limits.Handshake for nothing.
func (p *protocol) Start() {
	p.send(p.initializeRequest(), false, func(r *reply, err error) {
		switch {
		case err != nil:
			p.h.Ready(&adapters.OpenError{Code: event.ErrorProtocol, Op: "handshake", Err: err})
		case r.Subtype != "success":
			p.h.Ready(&adapters.OpenError{Code: event.ErrorProtocol, Op: "handshake", Err: errors.New(string(r.Error))})
		case p.o.Judge != nil && r.Response.Hooks != nil && !*r.Response.Hooks:
			p.h.Ready(invalidOption("judge", errors.New("the runtime does not apply hooks, which the judge needs")))
		default:
			p.offers = offers{r.Response.Models.Clone(), r.Response.Commands.Clone(), r.Response.Account.Clone()}
			p.reportReady(string(r.Response.Version), modeName(string(r.Response.Mode)))
		}
	})
}

// reportReady emits session_ready and completes the opening.
func (p *protocol) reportReady(version, mode string) {
	p.isReady = true
	p.unversioned = version == ""
	d := event.SessionReady{
		Runtime: runtimeName, RuntimeVersion: version, ProviderSessionID: p.t.provider,
		Resumed: p.o.Resume != "" && !p.o.Fork, Model: p.o.Model, Cwd: p.o.Dir, Mode: cmp.Or(mode, p.o.Mode),
	}
	if p.o.Fork {
		d.ForkedFrom = p.o.Resume
	}
	p.t.model, p.t.mode = d.Model, d.Mode
	p.h.Ledger().SessionReady(d)
	p.h.Ready(nil)
}

// Line implements session.Protocol.
func (p *protocol) Line(b []byte) {
	p.t.handleLine(b)
	p.lineHandled()
}

// Skipped implements session.Skipper: a result repeats the text of the last message.
func (p *protocol) Skipped(head map[string]string) {
	if head["/type"] == "result" && p.h.Ledger().Turn() != nil {
		p.t.endWithoutResult(session.EndSkipped())
		p.lineHandled()
	}
}

func (p *protocol) lineHandled() {
	if !p.Starting() && !p.CommandStarting() { // the message to stop may have been dropped
		p.early.Cancel()
	}
	if p.cancelResultWait != nil && p.h.Ledger().Turn() == nil {
		p.cancelResultWait()
		p.cancelResultWait = nil
	}
}

// Starting implements session.Starter.
func (p *protocol) Starting() bool {
	return p.h.Ledger().Turn() == nil && p.t.queue.hasClientMessages()
}

// CommandStarting implements session.Commander.
func (p *protocol) CommandStarting() bool {
	return p.h.Ledger().Turn() == nil && p.t.queue.hasMessages()
}

// Steer implements session.Protocol. liveSession does not expose it.
func (p *protocol) Steer(_ adapters.Message, reply func(error)) { reply(adapters.ErrUnsupported) }

// Answer implements session.Protocol.
func (p *protocol) Answer(id string, an adapters.Answer, reply func(error)) {
	p.t.questions.Answer(id, reply, func(a *question) error {
		if err := p.answer(a, an); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
		return nil
	})
}

// answer answers an open question.
func (p *protocol) answer(a *question, an adapters.Answer) error {
	var v any
	var d event.Decision
	var value event.Raw
	var err error
	if a.elicitation {
		v, d, value = answerElicitation(an)
	} else if v, d, value, err = a.wireVerdict(an, p.unversioned); err != nil {
		return err
	}
	if err := p.writeJSON(replyOut{"control_response", replyBody{Subtype: "success", RequestID: a.ID, Response: v}}); err != nil {
		return err
	}
	if d != event.DecisionAllow {
		p.t.denied[toolKey(a.sub, a.toolUseID)] = true
	}
	if d == event.DecisionCancel && a.sub == "" {
		p.t.turn.interrupted = true
	}
	p.t.resolveQuestion(a, d, an.By, value)
	return nil
}

// Ping implements session.Protocol.
func (p *protocol) Ping() { p.sendRequest(controlBody{Subtype: "mcp_status"}, func(*reply, error) {}) }

// Paused implements session.Protocol.
func (p *protocol) Paused() bool {
	s := p.h.Ledger().Turn()
	return p.t.turn.retrying || len(p.h.Ledger().Questions()) > 0 || s != nil && s.ToolsOpen() > 0
}

// Closing implements session.Protocol. It also interrupts background tasks,
// because a runtime whose stdin is closed would finish them first.
func (p *protocol) Closing() {
	p.cancelCalls()
	for _, a := range p.t.questions.All() {
		p.t.cancelQuestion(a, "the session is closing")
	}
	if p.h.Ledger().Turn() != nil || p.t.agents.anyRunning() {
		p.interrupt(false)
	}
}

// denyQuestion denies a permission, or cancels an MCP server's question.
func (p *protocol) denyQuestion(requestID string, elicits bool, why string) {
	if elicits {
		p.respond(requestID, elicitationResult{Action: "cancel"})
		return
	}
	p.respond(requestID, verdict{Behavior: "deny", Message: why})
}

func (p *protocol) refuseRequest(requestID, why string) {
	_ = p.writeJSON(replyOut{"control_response", replyBody{Subtype: "error", RequestID: requestID, Error: why}})
}

// handleReply handles the reply to one of our requests. A reply to an unknown request is late, or an
// echo of our own reply (--replay-user-messages echoes them).
func (p *protocol) handleReply(r *reply) {
	number, _ := strconv.Atoi(strings.TrimPrefix(r.RequestID, requestPrefix)) // 0 is no call
	if k := p.requests.Take(number); k != nil {
		k.Reply(r)
	}
}

// resultBeforeReady handles the result with which the runtime refuses to open.
func (p *protocol) resultBeforeReady(message string) {
	op := "start"
	if p.o.Resume != "" {
		op = "resume"
	}
	p.h.Ready(invalidOption(op, errors.New(cmp.Or(message, "the runtime refused"))))
}

// completedWithoutResult ends the turn if its result does not arrive within
// Limits.Stop. The runtime completes a message after the turn's result. If no result came before, it may still arrive.
func (p *protocol) completedWithoutResult(turn int) {
	if p.cancelResultWait != nil {
		return
	}
	p.cancelResultWait = p.h.After(p.h.Limits().Stop, func() {
		p.cancelResultWait = nil
		if s := p.h.Ledger().Turn(); s != nil && s.Turn() == turn {
			p.t.endWithoutResult(resultMissing())
		}
	})
}

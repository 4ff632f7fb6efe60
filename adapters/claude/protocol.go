package claude

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// protocol is the living side: the handshake, what the client's acts write, and
// the replies. It implements session.Protocol and client.
type protocol struct {
	h   session.Host
	o   adapters.Options
	t   *translator
	seq int
	// requests of ours that have no reply yet, by id
	requests map[string]*sent
	isReady  bool
	old      bool   // the runtime did not name its version in the handshake
	wantStop bool   // a stop came before its turn began
	wantAll  bool   // and it is for what waits behind it, too
	overdue  func() // cancels the wait for a missing result
	serving  map[string]*served
}

// sent is a request of ours.
type sent struct {
	reply  func(r *reply, err error)
	cancel func() // its limit, if it has one of its own
}

func newProtocol(h session.Host, o adapters.Options, provider string) *protocol {
	p := &protocol{h: h, o: o, requests: map[string]*sent{}, serving: map[string]*served{}}
	p.t = newTranslator(h.Ledger())
	p.t.client = p
	p.t.provider = provider
	return p
}

var (
	_ session.Protocol = (*protocol)(nil)
	_ session.Starter  = (*protocol)(nil)
	_ session.Setter   = (*protocol)(nil)
	_ client           = (*protocol)(nil)
)

// controlOut is a request of ours.
type controlOut struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	Request   any    `json:"request"`
}

type subtype struct {
	Subtype string `json:"subtype"`
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

func (p *protocol) write(v any) error {
	b, err := json.Marshal(v, lenient, json.Deterministic(true))
	if err != nil {
		return err
	}
	p.h.Write(b)
	return nil
}

// ask sends a request and calls back with its reply, or with an error after the
// limit.
func (p *protocol) ask(request any, reply func(*reply, error)) {
	id := p.request(request, reply)
	s := p.requests[id]
	if s == nil {
		return // it could not be written
	}
	s.cancel = p.h.After(p.h.Limits().Request, func() {
		delete(p.requests, id)
		reply(nil, fmt.Errorf("no reply within %v", p.h.Limits().Request))
	})
}

// request sends a request that has no limit of its own and returns its id.
func (p *protocol) request(request any, reply func(*reply, error)) string {
	p.seq++
	id := "turnspec-" + strconv.Itoa(p.seq)
	p.requests[id] = &sent{reply: reply, cancel: func() {}}
	if err := p.write(controlOut{"control_request", id, request}); err != nil {
		delete(p.requests, id)
		reply(nil, err)
	}
	return id
}

// Start implements session.Protocol. Limits.Handshake bounds the opening as a
// whole: were the request given up before, a reply after that would be taken for
// nobody's and the opening would wait for nothing.
func (p *protocol) Start() {
	p.request(p.greeting(), func(r *reply, err error) {
		switch {
		case err != nil:
			p.h.Ready(&adapters.OpenError{Code: event.ErrorProtocol, Op: "handshake", Err: err})
		case r.Subtype != "success":
			p.h.Ready(&adapters.OpenError{Code: event.ErrorProtocol, Op: "handshake", Err: errors.New(string(r.Error))})
		case p.o.Judge != nil && r.Response.Hooks != nil && !*r.Response.Hooks:
			p.h.Ready(&adapters.OpenError{Code: event.ErrorInvalid, Op: "judge", Err: errors.New("the runtime takes no hooks: nothing would hold what the judge denies")})
		default:
			p.open(string(r.Response.Version), modeName(string(r.Response.Mode)))
		}
	})
}

// open says that the session is ready.
func (p *protocol) open(version, mode string) {
	p.isReady = true
	p.old = version == ""
	d := event.SessionReady{
		Runtime: runtimeName, RuntimeVersion: version, ProviderSessionID: p.t.provider,
		Resumed: p.o.Resume != "" && !p.o.Fork, Model: p.o.Model, Cwd: p.o.Dir, Mode: mode,
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
	p.t.line(b)
	p.wantStop = p.wantStop && p.Starting() // what it was for may have been dropped
	if p.overdue != nil && p.h.Ledger().Turn() == nil {
		p.overdue()
		p.overdue = nil
	}
}

// Starting implements session.Starter.
func (p *protocol) Starting() bool { return p.h.Ledger().Turn() == nil && p.t.mail.promised() }

// Stop implements session.Protocol. A stop that comes before the turn has begun
// is sent when it begins: an idle runtime would take no notice of it.
func (p *protocol) Stop(reply func(error)) {
	if p.h.Ledger().Turn() == nil {
		p.wantStop, p.wantAll = true, false
		reply(nil)
		return
	}
	p.interrupt(false)
	reply(nil)
}

// interrupt stops the turn, and takes back what waits behind it, if that is
// wanted too.
func (p *protocol) interrupt(all bool) {
	p.t.turn.interrupted = true
	if all && p.old {
		p.withdrawAll()
		all = false
	}
	p.ask(interrupt{"interrupt", all}, func(*reply, error) {}) // the turn's end tells; the stop limit watches
}

// begun implements client.
func (p *protocol) begun() {
	if p.wantStop {
		p.wantStop = false
		p.interrupt(p.wantAll)
	}
}

// Steer implements session.Protocol; it is not reachable through chat.
func (p *protocol) Steer(_ adapters.Message, reply func(error)) { reply(adapters.ErrUnsupported) }

// Answer implements session.Protocol.
func (p *protocol) Answer(id string, an adapters.Answer, reply func(error)) {
	a := p.t.asks[id]
	if a == nil {
		reply(fmt.Errorf("%w: %q", adapters.ErrUnknownID, id))
		return
	}
	if a.judged {
		a.waits = append(a.waits, func() { p.Answer(id, an, reply) })
		return
	}
	var v any
	var d event.Decision
	var value event.Raw
	var err error
	if a.elicits {
		v, d, value = elicited(an)
	} else if v, d, value, err = a.decide(an, p.old); err != nil {
		reply(fmt.Errorf("answer: %w", err))
		return
	}
	if err := p.write(replyOut{"control_response", replyBody{Subtype: "success", RequestID: id, Response: v}}); err != nil {
		reply(fmt.Errorf("answer: %w", err))
		return
	}
	if d != event.DecisionAllow {
		p.t.denied[within(a.sub, a.toolUseID)] = true
	}
	if d == event.DecisionCancel && a.sub == "" {
		p.t.turn.interrupted = true
	}
	p.t.resolve(id, d, an.By, value)
	reply(nil)
}

// Ping implements session.Protocol.
func (p *protocol) Ping() { p.ask(subtype{"mcp_status"}, func(*reply, error) {}) }

// Paused implements session.Protocol.
func (p *protocol) Paused() bool {
	s := p.h.Ledger().Turn()
	return p.t.turn.retrying || len(p.h.Ledger().Questions()) > 0 || s != nil && s.ToolsOpen() > 0
}

// Closing implements session.Protocol. What runs is interrupted, background
// tasks too: a runtime whose stdin is closed would finish them first.
func (p *protocol) Closing() {
	p.giveUp()
	for id := range p.t.asks {
		p.t.closeAsk(id, "the session is closing")
	}
	if p.h.Ledger().Turn() != nil || p.t.agents.alive() {
		p.interrupt(false)
	}
}

// deny implements client.
func (p *protocol) deny(requestID string, elicits bool, why string) {
	var v any = verdict{Behavior: "deny", Message: why}
	if elicits {
		v = form{Action: "cancel"}
	}
	_ = p.write(replyOut{"control_response", replyBody{Subtype: "success", RequestID: requestID, Response: v}})
}

// refuse implements client.
func (p *protocol) refuse(requestID, why string) {
	_ = p.write(replyOut{"control_response", replyBody{Subtype: "error", RequestID: requestID, Error: why}})
}

// replied implements client. A reply to nothing of ours is an echo of our own
// (--replay-user-messages echoes them), or late.
func (p *protocol) replied(r *reply, _ []byte) {
	s := p.requests[r.RequestID]
	if s == nil {
		return
	}
	delete(p.requests, r.RequestID)
	s.cancel()
	s.reply(r, nil)
}

// ready implements client.
func (p *protocol) ready() bool { return p.isReady }

// checkpoints implements client.
func (p *protocol) checkpoints() bool { return p.o.Checkpoints }

// resultBeforeReady implements client: the runtime says why it does not open.
func (p *protocol) resultBeforeReady(message string) {
	op := "start"
	if p.o.Resume != "" {
		op = "resume"
	}
	p.h.Ready(&adapters.OpenError{Code: event.ErrorInvalid, Op: op, Err: errors.New(first(message, "the runtime refused"))})
}

// completedWithoutResult implements client. The runtime tells that it is done
// with a message after the turn's result; when no result came before, it may be
// on its way.
func (p *protocol) completedWithoutResult(turn int) {
	if p.overdue != nil {
		return
	}
	p.overdue = p.h.After(p.h.Limits().Stop, func() {
		p.overdue = nil
		if s := p.h.Ledger().Turn(); s != nil && s.Turn() == turn {
			p.t.lost()
		}
	})
}

package standin

import (
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// RuntimeRequest is a request that the runtime made of its client.
type RuntimeRequest struct {
	Process   int
	ID        string // as the client got it
	Method    string // or the subtype of a control request
	Calls     bool   // it calls what the client brings (a tool, a hook); the user is not asked
	Line      *fixtures.WireLine
	Answered  bool // the client replied
	Withdrawn bool // the runtime took it back, or reported that it is settled
	// Withdrawal is the line by which the runtime took it back while it had no
	// answer, or by which the turn of the request ended. nil if there is none.
	Withdrawal *fixtures.WireLine
	// Expected reports that the recording's client replied while it was open.
	Expected bool
}

// request is one that a process has made.
type request struct {
	id        string
	line      *fixtures.WireLine
	asked     *wire.Line
	withdrawn bool
	owner     string             // see script.ownerOf
	by        *fixtures.WireLine // took it back
}

// takeBack records by which line requests without an answer were taken back.
func (l *launch) takeBack(by *fixtures.WireLine, which func(*request) bool) {
	for i := range l.requests {
		if r := &l.requests[i]; r.by == nil && !l.answered[r.id] && which(r) {
			r.by = by
		}
	}
}

// trackRequests records what the runtime asked and took back with a line, and
// whether a turn runs.
func (p *Play) trackRequests(l *line, run *launch) {
	for i := range l.parts {
		x := l.parts[i].line
		owner := p.s.ownerOf(x)
		if id := requestOf(x); id != nil {
			played := p.translate(string(id), nil)
			run.requests = append(run.requests, request{id: played, line: l.w, asked: x, owner: owner})
			run.asked[played] = x
			p.noteUnoffered(run, x)
		}
		if id := withdraws(x); id != nil {
			played := p.translate(string(id), nil)
			for i := range run.requests {
				run.requests[i].withdrawn = run.requests[i].withdrawn || run.requests[i].id == played
			}
			run.takeBack(l.w, func(r *request) bool { return r.id == played })
		}
		if x.EndsCall != "" {
			run.takeBack(l.w, func(r *request) bool { return r.asked.Asked.Call == x.EndsCall })
		}
		if x.Kind == wire.TurnEnd && owner != "" {
			run.takeBack(l.w, func(r *request) bool { return r.owner == owner })
		}
		if owner == "" || owner == p.s.processes[run.n].session {
			run.turns = min(1, max(0, run.turns+turnChange(x))) // a repeated attempt begins without an end
		}
	}
}

// RuntimeRequests returns the requests that the runtime made of the subject, in
// their order for each process.
func (p *Play) RuntimeRequests() []RuntimeRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []RuntimeRequest
	for _, l := range p.launches {
		if l == nil {
			continue
		}
		for _, r := range l.requests {
			out = append(out, RuntimeRequest{
				Process: l.n, ID: wire.Unquote([]byte(r.id)), Method: l.asked[r.id].Method, Calls: r.asked.Asked.Calls, Line: r.line,
				Answered: l.answered[r.id], Withdrawn: r.withdrawn, Withdrawal: r.by, Expected: p.isExpected(l.n, r.id),
			})
		}
	}
	return out
}

// isExpected reports whether the recording's client replied to a request in time.
func (p *Play) isExpected(process int, id string) bool {
	for i := range p.s.lines {
		rec := &p.s.lines[i]
		if rec.w.Process == process && rec.w.Dir == fixtures.In && rec.step.Kind == KindAnswer && !rec.step.optional && p.translate(string(rec.step.id), nil) == id {
			return true
		}
	}
	return false
}

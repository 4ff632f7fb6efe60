package standin

import "github.com/turnspec/turnspec/fixtures"

// Asked is a request that the runtime made of its client.
type RuntimeRequest struct {
	Process   int
	ID        string // as the client got it
	Method    string // or the subtype of a control request
	Line      *fixtures.WireLine
	Answered  bool // the client replied
	Withdrawn bool // the runtime took it back, or says that it is settled
	// Back is the line by which the runtime took it back while it had no answer: it
	// says so, or ends the turn whose call it is. nil: none.
	Withdrawal *fixtures.WireLine
	// Expected says that the recording's client replied while it was open.
	Expected bool
}

// request is one that a process has made.
type request struct {
	id      string
	line    *fixtures.WireLine
	dropped bool
	thread  string             // whose call it is, where turns are a thread's
	call    string             // of a tool of the client: its id
	back    *fixtures.WireLine // by which it was taken back
}

// drop notes that a request is not open any more.
func (l *launch) drop(id string, by *fixtures.WireLine) {
	for i := range l.requests {
		if r := &l.requests[i]; r.id == id {
			r.dropped = true
		}
	}
	l.takeBack(by, func(r *request) bool { return r.id == id })
}

// takeBack notes by which line requests that have no answer were taken back.
func (l *launch) takeBack(by *fixtures.WireLine, which func(*request) bool) {
	for i := range l.requests {
		if r := &l.requests[i]; r.back == nil && !l.answered[r.id] && which(r) {
			r.back = by
		}
	}
}

// Asked returns the requests that the runtime made of the subject, in their order
// for each process.
func (p *Play) RuntimeRequests() []RuntimeRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []RuntimeRequest
	for _, l := range p.launches {
		if l == nil {
			continue
		}
		for _, r := range l.requests {
			out = append(out, RuntimeRequest{l.n, unquote([]byte(r.id)), l.asked[r.id].method, r.line, l.answered[r.id], r.dropped, r.back, p.expects(l.n, r.id)})
		}
	}
	return out
}

// expects reports whether the recording's client replied to a request in time.
func (p *Play) expects(process int, id string) bool {
	for i := range p.s.lines {
		rec := &p.s.lines[i]
		if rec.w.Process == process && rec.w.Dir == fixtures.In && rec.act.kind == KindAnswer && !rec.act.soft && p.translate(string(rec.act.id), nil) == id {
			return true
		}
	}
	return false
}

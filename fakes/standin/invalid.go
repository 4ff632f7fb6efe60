package standin

import (
	"bytes"

	"github.com/turnspec/turnspec/fixtures"
)

// markInvalid finds the lines that no client may write and that the recording's
// client wrote to record the effect: a line that is not of this wire, a request
// before the handshake, a handshake that fails or comes again, an answer to a
// request that was never made. Each is a barrier that only the same line passes.
func (s *script) markInvalid() {
	ready, asked := map[int]bool{}, map[int][][]byte{}
	for i := range s.lines {
		l := &s.lines[i]
		n := l.w.Process
		if l.w.Dir == fixtures.Out {
			for _, p := range l.parts {
				if id := requestOf(p.line); id != nil {
					asked[n] = append(asked[n], id)
				}
			}
		}
		if l.w.Dir != fixtures.In {
			continue
		}
		switch st := &l.step; {
		case st.Kind == KindJunk:
			l.invalid = true
		case st.Kind == KindAnswer:
			l.invalid = true
			for _, id := range asked[n] {
				l.invalid = l.invalid && !bytes.Equal(id, st.id)
			}
		case st.isHandshake():
			l.invalid = ready[n] || s.isRefused(i)
			ready[n] = ready[n] || !l.invalid
		case st.Step.AfterHandshake && !ready[n]:
			l.invalid = true
		}
	}
}

// isRefused reports whether the reply to a recorded request is an error.
func (s *script) isRefused(request int) bool {
	for i := request; i < len(s.lines); i++ {
		for _, p := range s.lines[i].parts {
			if p.reply == request {
				return p.line.Failed
			}
		}
	}
	return false
}

// Skip passes the step that the play waits for: the subject does not do it. The
// reply to it is not played either.
func (p *Play) Skip() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pos < len(p.s.lines) && p.s.lines[p.pos].w.Dir == fixtures.In {
		p.pos++
		p.change.Broadcast()
	}
}

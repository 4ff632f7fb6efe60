package standin

import (
	"bytes"

	"github.com/turnspec/turnspec/fixtures"
)

// mark finds the lines that no client may write and that the recording's client
// wrote to see what comes of them: what is not of this wire, a request before
// the handshake or a handshake that fails or comes again, an answer to what was
// never asked. Each is a barrier, and only the same line passes it.
func (s *script) mark() {
	ready, asked := map[int]bool{}, map[int][][]byte{}
	for i := range s.lines {
		l := &s.lines[i]
		n := l.w.Process
		for _, p := range l.parts {
			if p.said.asks != nil {
				asked[n] = append(asked[n], p.said.asks)
			}
		}
		if l.w.Dir != fixtures.In {
			continue
		}
		switch a := &l.act; {
		case a.kind == KindJunk:
			l.odd = true
		case a.kind == KindAnswer:
			l.odd = true
			for _, id := range asked[n] {
				l.odd = l.odd && !bytes.Equal(id, a.id)
			}
		case a.method == "initialize":
			l.odd = ready[n] || s.failed(i)
			ready[n] = ready[n] || !l.odd
		case s.dialect.mustInitialize() && !ready[n] && a.id != nil:
			l.odd = true
		}
	}
}

// failed reports whether the reply to a request of codex is an error. Claude
// Code refuses to open by ending.
func (s *script) failed(in int) bool {
	for i := in; i < len(s.lines); i++ {
		for _, p := range s.lines[i].parts {
			if p.reply == in {
				return bytes.HasPrefix(p.b, []byte(`{"error":`))
			}
		}
	}
	return false
}

// Skip passes the act that the play waits for: the subject does not do it. What
// is a reply to it is not said either.
func (p *Play) Skip() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pos < len(p.s.lines) && p.s.lines[p.pos].w.Dir == fixtures.In {
		p.pos++
		p.change.Broadcast()
	}
}

package standin

import (
	"slices"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// noteUnoffered reports a request that the runtime makes only of a client which offers something: the
// recording's client did, and this one did not. The runtime would not make it.
func (p *Play) noteUnoffered(l *launch, request *wire.Line) {
	if request.Asked == nil {
		return
	}
	need := request.Asked.Needs
	if need == "" || p.o.Fault != nil || slices.Contains(l.offers, need) || !slices.Contains(p.s.offersTo(l.n), need) {
		return
	}
	l.offers = append(l.offers, need) // it is reported once
	p.violationf("process %d: %s needs %s, which the client did not offer: the runtime would not ask for it", l.n, request.Method, need)
}

// offersTo returns what the recording's client offered to the runtime of a process.
func (s *script) offersTo(process int) []string {
	out := slices.Clone(s.processes[process].launch.Offers)
	for i := range s.lines {
		if rec := &s.lines[i]; rec.w.Process == process && rec.w.Dir == fixtures.In {
			out = append(out, rec.step.Step.Offers...)
		}
	}
	return out
}

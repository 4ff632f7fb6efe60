package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// wireIndex returns the index of the wire line that shows a problem, or -1.
func (p *Play) wireIndex(x Problem) int {
	switch {
	case x.Seq > 0:
		for _, e := range p.Events {
			if e.Seq == x.Seq {
				return e.Wire - 1
			}
		}
	case x.Line > 0 || x.Fault != nil && x.Fault.Line > 0:
		line := x.Line
		if line == 0 {
			line = x.Fault.Line
		}
		for i, l := range p.Wire {
			if l.Line == line {
				return i
			}
		}
	}
	return -1
}

// clockName names the clock of a play's times.
func clockName(e Entry) string {
	if e.Tier == string(conformance.TierProcess) || e.Tier == string(conformance.TierLive) {
		return "real"
	}
	return "virtual"
}

// writeWire writes the wire lines around a problem.
func writeWire(b *strings.Builder, p *Play, x Problem, clock string, st Style) {
	if p == nil {
		return
	}
	at := p.wireIndex(x)
	if at < 0 || at >= len(p.Wire) {
		return
	}
	fmt.Fprintf(b, "    wire (%s time), %s:%d:\n", clock, p.File, p.Wire[at].Line)
	for i := max(0, at-2); i <= min(at+1, len(p.Wire)-1); i++ {
		l := p.Wire[i]
		mark := " "
		if i == at {
			mark = ">"
		}
		when := time.Duration(l.At)
		if clock == "real" {
			when = when.Round(time.Millisecond)
		}
		fmt.Fprintf(b, "    %s%5d %s %8s %s\n", mark, l.Line, direction(fixtures.Dir(l.Dir)), when, st.Dim(clipLine(cmp.Or(l.Text, l.Dir), 140)))
	}
}

func direction(d fixtures.Dir) string {
	switch d {
	case fixtures.In:
		return "in> "
	case fixtures.Out:
		return "out<"
	case fixtures.Err:
		return "err<"
	}
	return "    "
}

func lineText(l fixtures.WireLine) string {
	switch l.Dir {
	case fixtures.In, fixtures.Out, fixtures.Err:
		return string(l.Bytes)
	}
	return string(l.Dir)
}

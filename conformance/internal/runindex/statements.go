package runindex

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Statements holds, for each line of Run.Played, what the runtime states there
// about the client's sessions and their turns. A line of a client, of a sub-agent or of
// a thread that the client did not open states nothing.
type Statements []wire.Statement

// StatementsOf returns the statements of a run that has ended.
func StatementsOf(r *conformance.Run) Statements { return conformance.Derive(r, readStatements) }

func readStatements(r *conformance.Run) Statements {
	out := make(Statements, len(r.Played))
	read := Runtime(r).ReadStatement
	if all := Runtime(r).Statements; all != nil {
		read = all()
	}
	if read == nil {
		return out
	}
	threads := map[string]bool{"": true} // replies name no thread
	for _, o := range r.Opens {
		threads[r.Recorded(o.Provider)] = true
	}
	lines := Of(r).Lines()
	for i, p := range r.Played {
		if p.Line.Dir == fixtures.Out && (!Runtime(r).Threads || threads[lines[i].Session]) {
			out[i] = read(p.Line.Bytes)
		}
	}
	return out
}

// Last returns the last statement that matches before a number of played lines.
func (s Statements) Last(lines int, matches func(wire.Statement) bool) (wire.Statement, bool) {
	for i := min(lines, len(s)) - 1; i >= 0; i-- {
		if matches(s[i]) {
			return s[i], true
		}
	}
	return wire.Statement{}, false
}

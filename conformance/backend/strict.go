package backend

import (
	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/backend/dialect/agentui"
	"github.com/turnspec/turnspec/adapters/backend/dialect/agui"
	"github.com/turnspec/turnspec/adapters/backend/dialect/uistream"
	"github.com/turnspec/turnspec/adapters/backend/dialect/wsmessages"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
)

// Strict lets the strict checker of a mapping's vocabulary judge the streams that the
// mapping reads, if it is a built-in vocabulary. It returns the mapping.
func Strict(m *mapping.Mapping) *mapping.Mapping {
	if newChecker := checkers[m.Vocabulary()]; newChecker != nil {
		m.NewChecker = func() mapping.Checker { return checker{newChecker()} }
	}
	return m
}

// dialectChecker is a checker of the back end.
type dialectChecker interface {
	Add(message []byte) []dialect.Problem
	End() []dialect.Problem
}

var checkers = map[string]func() dialectChecker{
	"agentui":    func() dialectChecker { return new(agentui.Checker) },
	"agui":       func() dialectChecker { return new(agui.Checker) },
	"uistream":   func() dialectChecker { return new(uistream.Checker) },
	"wsmessages": func() dialectChecker { return new(wsmessages.Checker) },
}

// checker implements mapping.Checker.
type checker struct{ of dialectChecker }

func (c checker) Add(message []byte) []mapping.Problem { return problems(c.of.Add(message)) }
func (c checker) End() []mapping.Problem               { return problems(c.of.End()) }

func problems(all []dialect.Problem) (out []mapping.Problem) {
	for _, p := range all {
		out = append(out, mapping.Problem{Rule: p.Rule, Text: p.String(), Advice: p.Advice})
	}
	return out
}

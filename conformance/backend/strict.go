package backend

import (
	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/backend/dialect/dialects"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
)

// Strict lets the strict checker of a mapping's vocabulary judge the streams that the
// mapping reads, if it is a built-in vocabulary. It returns the mapping.
func Strict(m *mapping.Mapping) *mapping.Mapping {
	if d, ok := dialects.Of(m.Vocabulary()); ok {
		m.NewChecker = func() mapping.Checker { return checker{d.NewChecker()} }
	}
	return m
}

// checker implements mapping.Checker.
type checker struct{ of dialects.Checker }

func (c checker) Add(message []byte) []mapping.Problem { return problems(c.of.Add(message)) }
func (c checker) End() []mapping.Problem               { return problems(c.of.End()) }

func problems(all []dialect.Problem) (out []mapping.Problem) {
	for _, p := range all {
		out = append(out, mapping.Problem{Rule: p.Rule, Text: p.String(), Advice: p.Advice})
	}
	return out
}

package mapping

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/backend/dialect/agentui"
	"github.com/turnspec/turnspec/adapters/backend/dialect/agui"
	"github.com/turnspec/turnspec/adapters/backend/dialect/uistream"
	"github.com/turnspec/turnspec/adapters/backend/dialect/wsmessages"
)

//go:embed builtin/*.json
var builtin embed.FS

// Checker is the state machine of a vocabulary.
type Checker interface {
	Add(message []byte) []dialect.Problem // checks the next message
	End() []dialect.Problem               // checks that the stream may end
}

// checkers are those of the built-in mappings that extend no other one.
var checkers = map[string]func() Checker{
	"agentui":    func() Checker { return new(agentui.Checker) },
	"agui":       func() Checker { return new(agui.Checker) },
	"uistream":   func() Checker { return new(uistream.Checker) },
	"wsmessages": func() Checker { return new(wsmessages.Checker) },
}

// Names lists the built-in mappings.
func Names() []string {
	files, err := builtin.ReadDir("builtin")
	if err != nil {
		panic(err) // they are embedded
	}
	var out []string
	for _, f := range files {
		out = append(out, strings.TrimSuffix(f.Name(), ".json"))
	}
	slices.Sort(out)
	return out
}

// Builtin returns a built-in mapping.
func Builtin(name string) (*Mapping, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("no dialect %q: use %s, or the file of a mapping", name, strings.Join(Names(), ", "))
	}
	file := "builtin/" + name + ".json"
	b, err := builtin.ReadFile(file)
	if err != nil {
		return nil, err
	}
	m, err := Parse(file, b)
	if err == nil && m.checker == nil {
		m.checker = checkers[name]
	}
	return m, err
}

// NewChecker returns the checker of the vocabulary, or nil if it is not a built-in one.
func (m *Mapping) NewChecker() Checker {
	if m.checker == nil {
		return nil
	}
	return m.checker()
}

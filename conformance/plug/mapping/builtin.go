package mapping

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed builtin/*.json
var builtin embed.FS

// Checker is the state machine of a vocabulary.
type Checker interface {
	Add(message []byte) []Problem // checks the next message
	End() []Problem               // checks that the stream may end
}

// Problem is a rule of a vocabulary that a stream breaks.
type Problem struct {
	Rule   string // its name, such as text-not-open
	Text   string // the number of the message, the rule, and what is wrong
	Advice bool   // the vocabulary allows it
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
	if err == nil && m.vocabulary == "" {
		m.vocabulary = name
	}
	return m, err
}

// Vocabulary returns the name of the built-in mapping that this one is, or whose messages
// it reads: one that extends no other. It is "" if the vocabulary is not a built-in one.
func (m *Mapping) Vocabulary() string { return m.vocabulary }

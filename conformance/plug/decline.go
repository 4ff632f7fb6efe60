package plug

import (
	"slices"
	"sync"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/fixtures"
)

// LastDeclaration holds what a program declared when it was started last. A program
// declares the same at each start. The zero value holds nothing.
type LastDeclaration struct {
	mu       sync.Mutex
	declared *Declaration
}

// Store stores a declaration.
func (l *LastDeclaration) Store(d Declaration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.declared = &d
}

// Declines implements conformance.Decliner.
func (l *LastDeclaration) Declines(s *fixtures.Scenario) (fixtures.Step, error) {
	l.mu.Lock()
	declared := l.declared
	l.mu.Unlock()
	if declared == nil {
		return fixtures.Step{}, nil
	}
	if slices.Contains(s.Needs, "question") && !declared.Emits(event.TypeInterrupt) {
		return fixtures.Step{Verb: fixtures.VerbOpen}, UnsupportedBecause("the program declares no event interrupt, and the runtime asks the user a question")
	}
	for _, ability := range abilitiesOf(s) {
		if err := declared.Require(ability); err != nil {
			return fixtures.Step{Verb: fixtures.VerbOpen}, err
		}
	}
	for _, step := range s.Client {
		for _, ability := range abilitiesOfStep(step) {
			if err := declared.Require(ability); err != nil {
				return step, err
			}
		}
	}
	return fixtures.Step{}, nil
}

// abilitiesOf returns what a program must be able to do to open a session of the
// scenario.
func abilitiesOf(s *fixtures.Scenario) (out []string) {
	for _, need := range []struct {
		needed  bool
		ability string
	}{
		{len(s.Servers) > 0, CanMCP},
		{s.Schema != nil, CanSchema},
		{s.Policy != nil, CanPolicy},
		{s.Components != nil, CanComponents},
		{len(s.Tools) > 0 && s.Components == nil, CanTools},
		{len(s.Hooks) > 0, CanHooks},
		{slices.Contains(s.Needs, "checkpoint"), op.Rewind.Name},
	} {
		if need.needed {
			out = append(out, need.ability)
		}
	}
	for _, o := range s.Options() {
		out = append(out, o.Can)
	}
	return out
}

// abilitiesOfStep returns what a program must be able to do for a step.
func abilitiesOfStep(s fixtures.Step) []string {
	if o := s.Op(); o != nil {
		return []string{o.Name}
	}
	switch {
	case s.Verb == fixtures.VerbStop:
		return []string{CanStop}
	case s.Verb == fixtures.VerbOpen && s.What == "fork":
		return []string{CanFork}
	case s.Verb == fixtures.VerbOpen && s.What == "unarchive":
		return []string{CanResume, op.Archive.Name}
	case s.Verb == fixtures.VerbOpen && s.What == "resume":
		return []string{CanResume}
	case s.Verb == fixtures.VerbSend && len(s.Files) > 0:
		return []string{CanAttach}
	case s.Verb == fixtures.VerbSend && s.What != "":
		return []string{CanPriority}
	case s.Verb == fixtures.VerbAnswer && s.What == fixtures.AnswerValue:
		return []string{CanQuestion}
	case s.Verb == fixtures.VerbAnswer:
		return []string{CanAnswer}
	}
	return nil
}

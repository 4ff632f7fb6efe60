// Package checks offers the checks that an adapter must pass.
//
// Each topic, the part of an id before the dot, is a package below this one. Each
// check is one literal in a file of its name: checks/text/once.go holds text.once,
// and checks/text/once_broken.go the broken adapters that prove it. A check compares
// the events of a subject with the witness or with an invariant of the stream,
// never with the events of another adapter. What the checks derive from a run
// (turns, tool calls, text blocks, requests to the model) is in package runindex.
package checks

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/component"
	"github.com/turnspec/turnspec/conformance/checks/dialect"
	"github.com/turnspec/turnspec/conformance/checks/mode"
	"github.com/turnspec/turnspec/conformance/checks/order"
	"github.com/turnspec/turnspec/conformance/checks/permission"
	"github.com/turnspec/turnspec/conformance/checks/policy"
	"github.com/turnspec/turnspec/conformance/checks/process"
	"github.com/turnspec/turnspec/conformance/checks/question"
	"github.com/turnspec/turnspec/conformance/checks/race"
	"github.com/turnspec/turnspec/conformance/checks/server"
	"github.com/turnspec/turnspec/conformance/checks/session"
	"github.com/turnspec/turnspec/conformance/checks/subagent"
	"github.com/turnspec/turnspec/conformance/checks/text"
	"github.com/turnspec/turnspec/conformance/checks/thinking"
	"github.com/turnspec/turnspec/conformance/checks/time"
	"github.com/turnspec/turnspec/conformance/checks/tool"
	"github.com/turnspec/turnspec/conformance/checks/turn"
	"github.com/turnspec/turnspec/conformance/checks/usage"
	"github.com/turnspec/turnspec/conformance/checks/wire"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// All returns every check, topic by topic.
func All() []*conformance.Check {
	return slices.Concat(
		session.Checks(),
		turn.Checks(),
		text.Checks(),
		thinking.Checks(),
		tool.Checks(),
		subagent.Checks(),
		permission.Checks(),
		question.Checks(),
		mode.Checks(),
		policy.Checks(),
		component.Checks(),
		usage.Checks(),
		race.Checks(),
		process.Checks(),
		server.Checks(),
		dialect.Checks(),
		wire.Checks(),
		time.Checks(),
		order.Checks(),
	)
}

// Broken returns the broken adapters that prove the checks, topic by topic.
func Broken() []broken.Adapter {
	return slices.Concat(
		session.Broken(),
		turn.Broken(),
		text.Broken(),
		thinking.Broken(),
		tool.Broken(),
		subagent.Broken(),
		permission.Broken(),
		question.Broken(),
		mode.Broken(),
		policy.Broken(),
		component.Broken(),
		usage.Broken(),
		race.Broken(),
		process.Broken(),
		wire.Broken(),
		time.Broken(),
		order.Broken(),
	)
}

// Named returns the checks with these ids, aliases or topics ("text" or "text.*"
// is all of text). Without names it returns all.
func Named(names ...string) ([]*conformance.Check, error) { return Select(All(), names...) }

// Select returns those of all that Named would return if they were the checks of this
// package.
func Select(all []*conformance.Check, names ...string) ([]*conformance.Check, error) {
	if len(names) == 0 {
		return all, nil
	}
	var out []*conformance.Check
	for _, n := range names {
		prefix := strings.TrimSuffix(strings.TrimSuffix(n, "*"), ".") + "."
		found := false
		for _, c := range all {
			if !c.HasID(n) && !strings.HasPrefix(c.ID, prefix) {
				continue
			}
			found = true
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
		if !found {
			return nil, fmt.Errorf("no check %q; near: %s; `turnspec list checks` prints all", n, strings.Join(near(all, n), ", "))
		}
	}
	return out, nil
}

// wordsOf returns the words of an id.
func wordsOf(id string) []string {
	return strings.FieldsFunc(id, func(r rune) bool { return r == '.' || r == '-' })
}

// near returns the ids that share the most words with a name.
func near(all []*conformance.Check, name string) []string {
	var ids []string
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	score := func(id string) int {
		n := 0
		for _, part := range wordsOf(name) {
			if slices.Contains(wordsOf(id), part) {
				n++
			}
		}
		return n
	}
	sort.SliceStable(ids, func(i, j int) bool { return score(ids[i]) > score(ids[j]) })
	return ids[:min(3, len(ids))]
}

// Package checks answers one question: which rules does an adapter keep?
//
// One file a topic; each check has an id, a sentence, a severity, a source and
// a judge, which looks at what a subject did and reports what it looked at.
// Checks judge by the witness or by an invariant of the stream alone, never by
// what another adapter made of the same wire.
package checks

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/turnspec/turnspec/conformance"
)

var both = []conformance.Tier{conformance.TierWitness, conformance.TierLive}

// All returns every check, sorted by topic and then as they are listed.
func All() []*conformance.Check {
	return needing(slices.Concat(sessionChecks(), actChecks(), openedChecks(), declaredChecks(), lifeChecks(), turnChecks(), endChecks(), fileChecks(), textChecks(), blockChecks(), thinkingChecks(),
		toolChecks(), callChecks(), clientChecks(), permissionChecks(), policyChecks(), answerChecks(), onceChecks(), processChecks(), wireChecks(), orderChecks(), replayChecks(), componentChecks(), timeChecks(), backlogChecks(), usageChecks()))
}

// Named returns the checks with these ids or topics ("text" or "text.*" is all
// of text); none: all.
func Named(names ...string) ([]*conformance.Check, error) {
	if len(names) == 0 {
		return All(), nil
	}
	var out []*conformance.Check
	for _, n := range names {
		prefix := strings.TrimSuffix(strings.TrimSuffix(n, "*"), ".")
		found := false
		for _, c := range All() {
			if c.ID == n || strings.HasPrefix(c.ID, prefix+".") {
				found = true
				if !slices.Contains(out, c) && !slices.ContainsFunc(out, func(o *conformance.Check) bool { return o.ID == c.ID }) {
					out = append(out, c)
				}
			}
		}
		if !found {
			return nil, fmt.Errorf("no check %q; near: %s; `turnspec list checks` prints all", n, strings.Join(near(n), ", "))
		}
	}
	return out, nil
}

// near lists the ids that share most with a name.
func near(name string) []string {
	var ids []string
	for _, c := range All() {
		ids = append(ids, c.ID)
	}
	score := func(id string) int {
		n := 0
		for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '-' }) {
			if strings.Contains(id, part) {
				n++
			}
		}
		return n
	}
	sort.SliceStable(ids, func(i, j int) bool { return score(ids[i]) > score(ids[j]) })
	return ids[:min(3, len(ids))]
}

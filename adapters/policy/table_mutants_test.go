package policy_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/policy"
	table "github.com/turnspec/turnspec/fixtures/policy"
)

// always is a policy that says the same of everything.
func always(e adapters.Effect) func(*table.Case) policy.Decision {
	return func(*table.Case) policy.Decision {
		return policy.Decision{Effect: e, Tree: &policy.Node{Effect: e, Reason: "always"}}
	}
}

// Each case can fail: some policy that is wrong fails it. No case passes with
// every constant policy, none is decided by mode, preset and rules alone.
func TestEachCaseCanFail(t *testing.T) {
	g := NewWithT(t)
	all := cases(t)
	s := newStage(t)
	for effect, least := range map[adapters.Effect]float64{allow: 0.5, deny: 0.15, ask: 0.9} {
		failed := 0
		for _, c := range all {
			if judge(&c, always(effect)(&c)) != "" {
				failed++
			}
		}
		g.Expect(float64(failed)).To(BeNumerically(">=", least*float64(len(all))), "a policy that says %s to all", effect)
	}

	// A denial says why: a policy that denies all, and says so, fails each.
	for _, c := range all {
		if c.Effect == "deny" && judge(&c, always(deny)(&c)) == "" {
			t.Errorf("%s: passes with a policy that denies everything", c.Place())
		}
	}

	// A case that is allowed is not allowed by default: of the same tool, in the
	// same mode, something is not.
	other := map[string]bool{}
	for _, c := range all {
		if c.Effect != "allow" {
			other[s.family(t, &c)] = true
		}
	}
	for _, c := range all {
		if c.Effect == "allow" && !talks(c.Tool) && !other[s.family(t, &c)] && !free[c.Tool] {
			t.Errorf("%s: nothing but allow is ever wanted of %s", c.Place(), s.family(t, &c))
		}
	}
}

// free are tools of which a mode allows everything, by design.
var free = map[string]bool{"Read": true, "Glob": true, "Grep": true, "WebSearch": true, "weather": true}

func talks(tool string) bool {
	p := policy.Policy{Preset: policy.ReadOnly}
	return p.Decide(adapters.Call{Tool: tool, Dir: "/w", Input: event.Raw(`{}`)}).Effect == allow
}

// family is a tool, or all of MCP, in a mode.
func (s stage) family(t *testing.T, c *table.Case) string {
	t.Helper()
	p, err := policy.Load(c.File, []byte(c.Policy))
	must(t, err)
	if p.Mode == "" {
		p.Mode = policy.Planner
	}
	tool := c.Tool
	if strings.HasPrefix(tool, "mcp__") {
		tool = "MCP"
	}
	return tool + " in mode " + string(p.Mode)
}

// What a group's policy says beside its mode matters: without it, some case of
// the group comes out otherwise.
func TestEachGroupNeedsItsPolicy(t *testing.T) {
	s := newStage(t)
	last, needs, matters := map[string]table.Case{}, map[string]bool{}, map[string]bool{}
	for _, c := range cases(t) {
		var bare []string
		for line := range strings.SplitSeq(c.Policy, "\n") {
			if strings.HasPrefix(line, "mode:") || line == "preset: full" {
				bare = append(bare, line)
			} else {
				needs[c.Group] = true
			}
		}
		changed := c
		changed.Policy = strings.Join(bare, "\n")
		last[c.Group] = c
		matters[c.Group] = matters[c.Group] || judge(&c, s.decide(t, &changed)) != ""
	}
	for name, c := range last {
		if c.Policy != "" && needs[name] && !matters[name] {
			t.Errorf("%s: group %s comes out the same without its rules", c.Place(), name)
		}
	}
}

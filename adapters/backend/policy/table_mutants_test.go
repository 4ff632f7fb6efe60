package policy_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/policy"
	"github.com/turnspec/turnspec/adapters/event"
	table "github.com/turnspec/turnspec/fixtures/policy"
)

// constantPolicy returns a policy with the same decision for every call.
func constantPolicy(e adapters.Effect) func(*table.Case) policy.Decision {
	return func(*table.Case) policy.Decision {
		return policy.Decision{Effect: e, Tree: &policy.Node{Effect: e, Reason: "constant"}}
	}
}

// TestEachCaseCanFail: some wrong policy fails each case. No case passes with every
// constant policy, and none depends on mode, preset and rules alone.
func TestEachCaseCanFail(t *testing.T) {
	g := NewWithT(t)
	all := cases(t)
	s := newStage(t)
	for effect, least := range map[adapters.Effect]float64{allow: 0.5, deny: 0.15, ask: 0.9} {
		failed := 0
		for _, c := range all {
			if checkDecision(&c, constantPolicy(effect)(&c)) != "" {
				failed++
			}
		}
		g.Expect(float64(failed)).To(BeNumerically(">=", least*float64(len(all))), "a policy that decides %s for every call", effect)
	}

	// A denial has a reason: a policy that denies everything for one reason fails.
	for _, c := range all {
		if c.Effect == "deny" && checkDecision(&c, constantPolicy(deny)(&c)) == "" {
			t.Errorf("%s: passes with a policy that denies everything", c.Place())
		}
	}

	// An allowed case is not allowed by default: another call of the same tool, in
	// the same mode, is not allowed.
	other := map[string]bool{}
	for _, c := range all {
		if c.Effect != "allow" {
			other[s.family(t, &c)] = true
		}
	}
	for _, c := range all {
		if c.Effect == "allow" && !isTalkTool(c.Tool) && !other[s.family(t, &c)] && !free[c.Tool] {
			t.Errorf("%s: every case of %s wants allow", c.Place(), s.family(t, &c))
		}
	}
}

// free are the tools that a mode allows without exception, by design.
var free = map[string]bool{"Read": true, "Glob": true, "Grep": true, "WebSearch": true, "weather": true}

func isTalkTool(tool string) bool {
	p := policy.Policy{Preset: policy.ReadOnly}
	return p.Decide(adapters.Call{Tool: tool, Dir: "/w", Input: event.Raw(`{}`)}).Effect == allow
}

// family returns the tool, or MCP for all MCP tools, with the mode.
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

// TestEachGroupNeedsItsPolicy: without the rules of a group, some case of the group gets
// another decision.
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
		matters[c.Group] = matters[c.Group] || checkDecision(&c, s.decide(t, &changed)) != ""
	}
	for name, c := range last {
		if c.Policy != "" && needs[name] && !matters[name] {
			t.Errorf("%s: group %s gets the same decisions without its rules", c.Place(), name)
		}
	}
}

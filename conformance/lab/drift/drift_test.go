package drift_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/lab/drift"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/schema"
)

// side returns one scenario of the corpus with edited lines.
func side(t *testing.T, version string, edit func(line string) string) drift.Side {
	t.Helper()
	c, err := fixtures.LoadCase("codex/newest/" + scenario)
	if err != nil {
		t.Fatal(err)
	}
	life, err := fixtures.LoadReadReplies("codex", "newest")
	if err != nil {
		t.Fatal(err)
	}
	c.Wire = editWire(c.Wire, edit)
	return drift.Side{Version: version, Cases: map[string]*fixtures.Case{scenario: c}, Lifecycle: life}
}

const scenario = "tool/text-tool-text-three-rounds"

func editWire(wire []fixtures.WireLine, edit func(string) string) []fixtures.WireLine {
	var out []fixtures.WireLine
	for _, l := range wire {
		if l.Dir == fixtures.Out && edit != nil {
			text := edit(string(l.Bytes))
			if text == "" {
				continue
			}
			l.Bytes = []byte(text)
		}
		out = append(out, l)
	}
	return out
}

func compareWith(t *testing.T, to drift.Side) *drift.Report {
	t.Helper()
	s, err := fixtures.LoadScenario(scenario)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := drift.Compare(t.Context(), drift.Config{
		Runtime: "codex", From: side(t, "1.0.0", nil), To: to, Scenarios: []*fixtures.Scenario{s},
		Subject: backend.Adapter("codex", codex.New()), Checks: checks.All(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func found(rep *drift.Report, level drift.Level, sort drift.Sort, what string) bool {
	for _, c := range rep.Changes {
		if c.Level == level && c.Sort == sort && strings.Contains(c.What, what) {
			return true
		}
	}
	return false
}

func TestVerdictOfEachKindOfChange(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(string) string
		want drift.Verdict
		has  []any // level, sort, what
	}{
		"nothing": {nil, drift.None, nil},
		"a member more": {func(l string) string {
			return strings.Replace(l, `"method":"item/completed","params":{`, `"method":"item/completed","params":{"mood":"calm",`, 1)
		}, drift.Additive, []any{drift.LevelWire, drift.Added, "field params.mood"}},
		"a message less": {func(l string) string {
			if strings.Contains(l, `"account/rateLimits/updated"`) {
				return ""
			}
			return l
		}, drift.Behavioural, []any{drift.LevelWire, drift.Gone, "message account/rateLimits/updated"}},
		"another form": {func(l string) string {
			return strings.ReplaceAll(l, `"exitCode":0`, `"exitCode":"none"`)
		}, drift.Behavioural, []any{drift.LevelWire, drift.Changed, "field params.item.exitCode"}},
		"other text in events": {func(l string) string {
			return strings.ReplaceAll(l, `"exitCode":0`, `"exitCode":7`)
		}, drift.Breaking, []any{drift.LevelEvents, drift.Changed, "member exit_code of tool_result(ok)"}},
		"text is lost": {func(l string) string {
			if strings.Contains(l, "item/agentMessage/delta") || strings.Contains(l, `"type":"agentMessage"`) {
				return ""
			}
			return l
		}, drift.Breaking, []any{drift.LevelChecks, drift.Fails, "check text.once"}},
	} {
		t.Run(name, func(t *testing.T) {
			rep := compareWith(t, side(t, "2.0.0", c.edit))
			if rep.Verdict != c.want {
				var b bytes.Buffer
				_ = rep.Text(&b, true)
				t.Errorf("verdict %s, want %s\n%s", rep.Verdict, c.want, b.String())
			}
			if c.has != nil && !found(rep, c.has[0].(drift.Level), c.has[1].(drift.Sort), c.has[2].(string)) {
				t.Errorf("%v is not among %+v", c.has, rep.Changes)
			}
		})
	}
}

func TestReorderedMessagesAreFound(t *testing.T) {
	g := NewWithT(t)
	to := side(t, "2.0.0", nil)
	wire := to.Cases[scenario].Wire
	for i := range wire { // the end of a command before its start
		if strings.Contains(string(wire[i].Bytes), `"item/started"`) && strings.Contains(string(wire[i].Bytes), "commandExecution") {
			for j := i + 1; j < len(wire); j++ {
				if strings.Contains(string(wire[j].Bytes), `"item/completed"`) && strings.Contains(string(wire[j].Bytes), "commandExecution") {
					wire[i].Bytes, wire[j].Bytes = wire[j].Bytes, wire[i].Bytes
					break
				}
			}
		}
	}
	rep := compareWith(t, to)
	g.Expect(found(rep, drift.LevelWire, drift.Reordered, "item/started(commandExecution) and item/completed(commandExecution)")).To(BeTrue())
}

func TestUnrecordedScenarioIsBreaking(t *testing.T) {
	g := NewWithT(t)
	to := side(t, "2.0.0", nil)
	to.Failed = map[string]error{scenario: errors.New("it did not start")}
	to.Cases = map[string]*fixtures.Case{}
	rep := compareWith(t, to)
	g.Expect(rep.Verdict).To(Equal(drift.Breaking))
	g.Expect(found(rep, drift.LevelRun, drift.Fails, "scenario "+scenario)).To(BeTrue())
	g.Expect(found(rep, drift.LevelRun, drift.Fails, "no scenario was recorded on both versions")).To(BeTrue())

	same := side(t, "2.0.0", nil)
	same.Failed = map[string]error{"lifecycle": errors.New("no reads")}
	g.Expect(compareWith(t, same).Verdict).To(Equal(drift.Breaking))
}

func TestSchemaChangesAreFound(t *testing.T) {
	g := NewWithT(t)
	parse := func(text string) *schema.Schema {
		s, err := schema.Parse("x", []byte(text))
		g.Expect(err).NotTo(HaveOccurred())
		return s
	}
	s, err := fixtures.LoadScenario(scenario)
	g.Expect(err).NotTo(HaveOccurred())
	from, to := side(t, "1.0.0", nil), side(t, "2.0.0", nil)
	from.Schema = parse("notification old/one A\nnotification both B\nA {x: string}\nB {n: number, p: Policy, same: string}\nPolicy = \"never\" | \"on-failure\"\n")
	to.Schema = parse("notification both B\nnotification new/one C\nB {n: string, p: Policy, same: string, more: any}\nC {y: string}\nPolicy = \"never\" | \"untrusted\"\n")
	rep, err := drift.Compare(t.Context(), drift.Config{
		Runtime: "codex", From: from, To: to, Scenarios: []*fixtures.Scenario{s},
		Subject: backend.Adapter("codex", codex.New()), Checks: checks.All(),
	})
	g.Expect(err).NotTo(HaveOccurred())
	var got []string
	for _, c := range rep.Changes {
		got = append(got, string(c.Sort)+" "+c.What)
	}
	g.Expect(got).To(ConsistOf("added notification new/one", "gone notification old/one", "added type C", "gone type A", "changed field B.n",
		"added field B.more", `added value Policy="untrusted"`, `gone value Policy="on-failure"`))
	g.Expect(rep.Verdict).To(Equal(drift.Behavioural))

	var text, markdown bytes.Buffer
	g.Expect(rep.Text(&text, false)).To(Succeed())
	g.Expect(text.String()).To(ContainSubstring("codex 1.0.0 → 2.0.0: behavioural. Of 1 scenario, 1 have the same events"))
	g.Expect(text.String()).To(ContainSubstring("--all lists them"))
	g.Expect(rep.Markdown(&markdown)).To(Succeed())
	g.Expect(markdown.String()).To(ContainSubstring("- gone `value Policy=\"on-failure\"`"))
}

package drift_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/lab/drift"
	"github.com/turnspec/turnspec/fixtures"
)

// chanceScenarios are scenarios whose recordings differ most from time to time.
var chanceScenarios = []string{
	"text/plain", "tool/text-tool-text-three-rounds", "model/overloaded-once", "model/cut-in-mid-text-then-retried",
	"background/tool-in-the-unprompted-turn", "hook/breaks", "mcp/gives-an-image", "command/clear", "subagent/two-at-once",
}

// storedSide returns the stored recordings of the newest version of a runtime, with
// edit applied to each line of the wire.
func storedSide(t *testing.T, runtime, version string, edit func(line []byte) []byte) (drift.Side, []*fixtures.Scenario) {
	t.Helper()
	side := drift.Side{Version: version, Cases: map[string]*fixtures.Case{}}
	var scenarios []*fixtures.Scenario
	for _, id := range chanceScenarios {
		c, err := fixtures.LoadCase(runtime + "/newest/" + id)
		if err != nil {
			continue // not on this runtime
		}
		s, err := fixtures.LoadScenario(id)
		if err != nil {
			t.Fatal(err)
		}
		if edit != nil {
			editMinted(c, edit)
		}
		side.Cases[id] = c
		scenarios = append(scenarios, s)
	}
	if len(scenarios) < 5 {
		t.Fatalf("only %d scenarios of %s", len(scenarios), runtime)
	}
	return side, scenarios
}

// editMinted applies edit to each line of the runtime. It keeps the ids that the
// client or the model knows too.
func editMinted(c *fixtures.Case, edit func([]byte) []byte) {
	var others strings.Builder
	for _, l := range c.Wire {
		if l.Dir != fixtures.Out {
			fmt.Fprintln(&others, l.Argv, string(l.Bytes))
		}
	}
	fmt.Fprintf(&others, "%+v", c.Witness)
	for i := range c.Wire {
		l := &c.Wire[i]
		if l.Dir != fixtures.Out || len(l.Bytes) == 0 {
			continue
		}
		var pairs []string
		for n, id := range slices.Compact(slices.Sorted(slices.Values(mintedUUID.FindAllString(string(l.Bytes), -1)))) {
			if strings.Contains(others.String(), id) {
				stand := fmt.Sprintf("<kept-%d>", n)
				l.Bytes = []byte(strings.ReplaceAll(string(l.Bytes), id, stand))
				pairs = append(pairs, stand, id)
			}
		}
		l.Bytes = []byte(strings.NewReplacer(pairs...).Replace(string(edit(l.Bytes))))
	}
}

var (
	mintedUUID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	duration   = regexp.MustCompile(`("[A-Za-z_]*(?:_ms|Ms)":)(\d+)`)
	timestamp  = regexp.MustCompile(`"timestamp":"[^"]*"`)
)

// anotherTime changes a line as another recording does: ids, times and durations.
func anotherTime(line []byte) []byte {
	line = mintedUUID.ReplaceAllFunc(line, func(id []byte) []byte {
		id = slices.Clone(id)
		slices.Reverse(id[len(id)-6:])
		id[len(id)-7] = 'a'
		return id
	})
	line = duration.ReplaceAllFunc(line, func(m []byte) []byte {
		name, n, _ := strings.Cut(string(m), ":")
		v, _ := strconv.Atoi(n)
		return fmt.Appendf(nil, "%s:%d", name, 3*v+17)
	})
	return timestamp.ReplaceAll(line, []byte(`"timestamp":"2031-01-01T00:00:00.000Z"`))
}

// underLoad returns a side whose lines come ten times as late.
func underLoad(s drift.Side) drift.Side {
	for _, c := range s.Cases {
		for i := range c.Wire {
			c.Wire[i].T *= 10
		}
	}
	return s
}

func compareStored(t *testing.T, runtime string, edit func([]byte) []byte, cfg drift.Config) *drift.Report {
	t.Helper()
	reference := map[string]adapters.Adapter{"codex": codex.New(), "claude": claude.New()}[runtime]
	cfg.Runtime, cfg.Subject, cfg.Checks = runtime, backend.Adapter(runtime, reference), checks.All()
	cfg.From, cfg.Scenarios = storedSide(t, runtime, "1.0.0", nil)
	cfg.To, _ = storedSide(t, runtime, "2.0.0", edit)
	cfg.To = underLoad(cfg.To)
	rep, err := drift.Compare(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func reportText(rep *drift.Report) string {
	var b strings.Builder
	_ = rep.Text(&b, true)
	return b.String()
}

// Another recording of the same version, on a machine under load, differs in
// nothing.
func TestSameVersionIsNone(t *testing.T) {
	for _, runtime := range []string{"claude", "codex"} {
		t.Run(runtime, func(t *testing.T) {
			rep := compareStored(t, runtime, anotherTime, drift.Config{})
			NewWithT(t).Expect(rep.Verdict).To(Equal(drift.None), reportText(rep))
		})
	}
}

// A new member in every scenario does not let what differs by chance count.
func TestChanceIsMaskedBesideAnAddition(t *testing.T) {
	for runtime, open := range map[string]string{"claude": `{"type":"system","subtype":"init",`, "codex": `{"method":"turn/completed","params":{`} {
		t.Run(runtime, func(t *testing.T) {
			g := NewWithT(t)
			rep := compareStored(t, runtime, func(line []byte) []byte {
				return []byte(strings.Replace(string(anotherTime(line)), open, open+`"begun_message_ids":["a","b"],`, 1))
			}, drift.Config{})
			g.Expect(found(rep, drift.LevelWire, drift.Added, "begun_message_ids")).To(BeTrue(), reportText(rep))
			g.Expect(rep.Verdict).To(Equal(drift.Additive), reportText(rep))
		})
	}
}

func TestNewValueIsAdditive(t *testing.T) {
	g := NewWithT(t)
	rep := compareStored(t, "claude", func(line []byte) []byte {
		return []byte(strings.Replace(string(line), `"tools":[`, `"tools":["Brandnew",`, 1))
	}, drift.Config{})
	g.Expect(found(rep, drift.LevelWire, drift.Added, "values of tools[]")).To(BeTrue(), reportText(rep))
	g.Expect(rep.Verdict).To(Equal(drift.Additive), reportText(rep))
}

// A change that does not occur each time is chance, on the new version and on the
// old one.
func TestChangesAreRecordedAgain(t *testing.T) {
	lost := func(line []byte) []byte {
		if strings.Contains(string(line), `"account/rateLimits/updated"`) {
			return []byte(`{"method":"thread/name/updated","params":{"threadId":"x","threadName":"y"}}`)
		}
		return line
	}
	for name, c := range map[string]struct {
		to, from func([]byte) []byte // as it is recorded again
		verdict  drift.Verdict
		calls    int
	}{
		"the new version was different once": {nil, nil, drift.None, 1},
		"the old version was different once": {lost, lost, drift.None, 2},
		"each time":                          {lost, nil, drift.Behavioural, 3},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			calls := 0
			rep := compareStored(t, "codex", lost, drift.Config{
				Again: func(_ context.Context, old bool, scenarios []*fixtures.Scenario) (drift.Side, error) {
					calls++
					g.Expect(scenarios).NotTo(BeEmpty())
					side, _ := storedSide(t, "codex", "3.0.0", map[bool]func([]byte) []byte{true: c.from, false: c.to}[old])
					maps.DeleteFunc(side.Cases, func(id string, _ *fixtures.Case) bool {
						return !slices.ContainsFunc(scenarios, func(s *fixtures.Scenario) bool { return s.ID == id })
					})
					return side, nil
				},
			})
			g.Expect(rep.Verdict).To(Equal(c.verdict), reportText(rep))
			g.Expect(calls).To(Equal(c.calls))
		})
	}
}

// A scenario that failed once is compared when it is recorded again.
func TestFailureIsRecordedAgain(t *testing.T) {
	g := NewWithT(t)
	s, err := fixtures.LoadScenario(scenario)
	g.Expect(err).NotTo(HaveOccurred())
	to := side(t, "2.0.0", nil)
	to.Cases, to.Failed = map[string]*fixtures.Case{}, map[string]error{scenario: errors.New("no reply within a minute")}
	rep, err := drift.Compare(t.Context(), drift.Config{
		Runtime: "codex", From: side(t, "1.0.0", nil), To: to, Scenarios: []*fixtures.Scenario{s},
		Subject: backend.Adapter("codex", codex.New()), Checks: checks.All(),
		Again: func(_ context.Context, old bool, _ []*fixtures.Scenario) (drift.Side, error) {
			if old {
				return drift.Side{}, nil
			}
			return side(t, "2.0.0", func(l string) string { return strings.ReplaceAll(l, `"exitCode":0`, `"exitCode":7`) }), nil
		},
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found(rep, drift.LevelRun, drift.Fails, "scenario")).To(BeFalse())
	g.Expect(found(rep, drift.LevelEvents, drift.Changed, "exit_code")).To(BeTrue(), reportText(rep))
}

// A reply that takes longer than all the others is reported, without a verdict.
func TestSlowReplyIsNoVerdict(t *testing.T) {
	g := NewWithT(t)
	to := side(t, "2.0.0", nil)
	for i := range to.Cases[scenario].Wire {
		if l := &to.Cases[scenario].Wire[i]; l.Dir == fixtures.Exit {
			l.T += time.Minute
		}
	}
	rep := compareWith(t, to)
	g.Expect(rep.Verdict).To(Equal(drift.None))
}

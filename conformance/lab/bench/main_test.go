package bench

import (
	"context"
	"os"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

func TestMain(m *testing.M) {
	Main(map[string]adapters.Transcriber{"codex": codex.New(), "claude": claude.New()})
	os.Exit(m.Run())
}

// TestARunMeasuresWhatItLists runs programs: every contender has every measure that
// applies to it. Figures are checked only for what holds on any machine.
func TestARunMeasuresWhatItLists(t *testing.T) {
	if testing.Short() {
		t.Skip("starts programs")
	}
	g := NewWithT(t)
	var steps int
	d, err := Config{
		Subjects: []conformance.Subject{conformance.Adapter("mine", codex.New())},
		Cases:    map[string]string{"codex": "codex/newest/text/plain"},
		Corpus:   fixtures.Embedded(),
		Loads: []Load{
			{Name: "stream", Deltas: 20, Rate: 200, Sessions: 1},
			{Name: "flood", Deltas: 300, Sessions: 1},
			{Name: "many", Deltas: 5, Rate: 50, Sessions: 4, Share: 2},
		},
		Step: 2000, Repeats: 1, Turnspec: "test",
		More: func(d *Document) bool { return d.Repeats < 2 }, Most: 5,
		Progress: func(done, total int, _ string) {
			steps++
			g.Expect(done).To(BeNumerically("<=", total))
		},
	}.Run(context.Background())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.Repeats).To(Equal(2))
	g.Expect(steps).To(BeNumerically(">", 10))
	node := nodeMissing() == ""
	g.Expect(len(d.Notes) == 0).To(Equal(node), "%v", d.Notes)
	for _, l := range []string{"stream", "flood", "many"} {
		for _, who := range []string{"mine", Raw, Lines, Node} {
			if who == Node && !node {
				continue
			}
			for _, measure := range []string{"start", "cpu"} {
				s := d.Find("codex", l, who, measure)
				g.Expect(s).NotTo(BeNil(), "%s %s %s", l, who, measure)
				g.Expect(s.Samples).To(HaveLen(2), "%s %s %s", l, who, measure)
				g.Expect(s.Samples).To(HaveEach(BeNumerically(">", 0)), "%s %s %s", l, who, measure)
			}
			if l == "flood" {
				g.Expect(d.Find("codex", l, who, "rate").Samples).To(HaveEach(BeNumerically(">", 0)))
				continue
			}
			p50, longest := d.Find("codex", l, who, "delay-p50"), d.Find("codex", l, who, "delay-max")
			g.Expect(p50.Samples).To(HaveEach(And(BeNumerically(">", 0), BeNumerically("<", 10))))
			if l == "many" && who != Node && runtime.GOOS == "linux" { // Node opens its sessions and begins their turns itself
				g.Expect(d.Find("codex", l, who, "processors").Samples).To(HaveEach(And(BeNumerically(">", 0), BeNumerically("<=", runtime.NumCPU()))))
			}
			for i := range p50.Samples {
				g.Expect(longest.Samples[i]).To(BeNumerically(">=", p50.Samples[i]))
			}
		}
		for _, measure := range []string{"lost", "again", "disordered"} {
			g.Expect(d.Find("codex", l, "mine", measure).Samples).To(Equal([]float64{0, 0}), "%s %s", l, measure)
		}
		for _, p := range phases {
			g.Expect(d.Find("codex", l, "mine", p.name)).NotTo(BeNil(), "%s %s", l, p.name)
		}
	}
	for _, who := range []string{"codex", Lines} {
		g.Expect(d.Find("codex", StepLoad, who, "step-rate").Samples).To(HaveEach(BeNumerically(">", 0)), who)
	}
	g.Expect(d.Find("", SpawnLoad, Spawn, "start").Samples).To(HaveLen(2))
	g.Expect(d.Find("codex", "stream", "mine", "added-first").Samples).To(HaveLen(2))
	g.Expect(d.Find("codex", "stream", "mine", "added-start").Samples).To(HaveLen(2))
	for _, s := range d.Series {
		g.Expect(MeasureNamed(s.Measure).Text).NotTo(BeEmpty(), "%s is measured, and not listed", s.Measure)
	}
	kinds := map[CurveKind]int{}
	for _, c := range d.Curves {
		kinds[c.Kind]++
		g.Expect(c.Points).NotTo(BeEmpty())
	}
	g.Expect(kinds[CurveDelay]).To(BeNumerically(">=", 6))
	g.Expect(kinds[CurveBacklog]).To(Equal(2))
}

// TestNodeReadsEachRuntime checks that the control finds the deltas of each runtime that has
// some: a trial that misses one is an error.
func TestNodeReadsEachRuntime(t *testing.T) {
	if testing.Short() || nodeMissing() != "" {
		t.Skip("starts Node, which may be missing")
	}
	for _, id := range []string{
		"codex/newest/text/plain", "claude/newest/text/plain", "acp/codex-acp-2.6.0/text/plain", "pi/0.87.1/text/plain",
		"opencode/1.18.33/text/plain", "chat/2-relayed/text/plain",
	} {
		g := NewWithT(t)
		what, err := playedOf(fixtures.Embedded(), "", id)
		g.Expect(err).NotTo(HaveOccurred())
		_, _, err = runTrial(t.Context(), nodeControl(), what, Load{Name: "flood", Deltas: 20, Sessions: 1})
		g.Expect(err).NotTo(HaveOccurred(), id)
	}
}

// TestIdleMemoryIsSeen measures an adapter and one whose sessions hold a mebibyte more.
func TestIdleMemoryIsSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("starts programs")
	}
	g := NewWithT(t)
	const more = 1 << 20
	hoards := changed{conformance.Adapter("hoards", codex.New()), func(in <-chan event.Event, out chan<- event.Event, _ *held) {
		kept := make([]byte, more)
		for e := range in {
			out <- e
		}
		runtime.KeepAlive(kept)
	}}
	d, err := Config{
		Subjects: []conformance.Subject{conformance.Adapter("mine", codex.New()), hoards},
		Cases:    map[string]string{"codex": "codex/newest/text/plain"},
		Corpus:   fixtures.Embedded(),
		Loads:    []Load{{Name: "idle", Deltas: 1, Rate: 50, Sessions: 8, Idle: true}},
		Repeats:  1, Turnspec: "test", Controls: []string{Raw},
	}.Run(context.Background())
	g.Expect(err).NotTo(HaveOccurred())
	mine, other := d.Find("codex", "idle", "mine", "idle-memory").Samples[0], d.Find("codex", "idle", "hoards", "idle-memory").Samples[0]
	g.Expect(mine).To(And(BeNumerically(">", 1<<10), BeNumerically("<", more)))
	g.Expect(other).To(BeNumerically(">", mine+0.9*more))
	g.Expect(d.Find("codex", "idle", Raw, "idle-memory")).NotTo(BeNil())
}

// TestStepsMakeAllEvents: a whole step emits all events of a wire.
func TestStepsMakeAllEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("starts programs")
	}
	for rt, id := range map[string]string{"codex": "codex/newest/text/plain", "claude": "claude/newest/text/plain"} {
		g := NewWithT(t)
		dir := t.TempDir()
		file, err := stepFile(context.Background(), dir, id, "", 500)
		g.Expect(err).NotTo(HaveOccurred())
		b, err := restartForStep(context.Background(), rt, file)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(b)).To(MatchRegexp(`"events":51\d`), rt)
		_, err = restartForStep(context.Background(), "nobody", file)
		g.Expect(err).To(MatchError(ContainSubstring(`no adapter "nobody"`)))
	}
}

func TestAnEmptyRunIsAnError(t *testing.T) {
	_, err := Config{Repeats: 1}.Run(context.Background())
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("nothing to measure")))
}

package fault_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

func load(t *testing.T, id string) *fixtures.Case {
	t.Helper()
	c, err := fixtures.LoadCase(id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func named(t *testing.T, name string) fault.Operator {
	t.Helper()
	o, err := fault.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// placesOf are the places of an operator in a case of the embedded corpus.
func placesOf(t *testing.T, o fault.Operator, c *fixtures.Case) []int {
	t.Helper()
	s, err := fixtures.LoadScenario(c.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	return o.Places(c, s)
}

func TestScenariosNameOperators(t *testing.T) {
	g := gomega.NewWithT(t)
	all, err := fixtures.Scenarios()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(fault.Lint(all)).To(gomega.Succeed())
	g.Expect(fault.Lint(nil)).To(gomega.MatchError(gomega.ContainSubstring("no scenario names the operator no-program")))
	wrong := &fixtures.Scenario{File: "x.txtar", Faults: []string{"kill"}}
	g.Expect(fault.Lint(append(all, wrong))).To(gomega.MatchError(gomega.ContainSubstring(`x.txtar: faults: "kill"`)))
}

// played is what the processes write under a fault to a client that does all steps at
// once.
type played struct {
	out, err []byte
	writes   int // how many reads of stdout gave something
	exit     proc.Exit
	state    standin.State
	stalled  bool // it was at its end and did not end
}

func play(t *testing.T, c *fixtures.Case, h fault.Fault) played {
	t.Helper()
	o := standin.Options{Manual: true, KeepIDs: true}
	h.ApplyTo(&o)
	p, err := standin.New(c, o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var got played
	for i := range c.Wire {
		if c.Wire[i].Dir != fixtures.Spawn {
			continue
		}
		n := c.Wire[i].Process
		pr, err := p.Launcher().Launch(context.Background(), proc.Command{
			Argv: c.Wire[i].Argv, Dir: "<work>", Env: []string{"HOME=<home>", "CLAUDE_CODE_SDK_READS_SESSION_STATE=1"},
		})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{}, 2)
		go func() {
			b := make([]byte, 1<<16)
			for {
				k, err := pr.Stdout().Read(b)
				if err != nil {
					done <- struct{}{}
					return
				}
				got.writes++
				got.out = append(got.out, b[:k]...)
			}
		}()
		go func() {
			b, _ := io.ReadAll(pr.Stderr())
			got.err = append(got.err, b...)
			done <- struct{}{}
		}()
		for k := range c.Wire {
			if w := &c.Wire[k]; w.Process == n && w.Dir == fixtures.In {
				steps(p)
				_, _ = pr.Stdin().Write(append(slices.Clone(w.Bytes), '\n')) // a killed process takes no more
			}
		}
		steps(p)
		_ = pr.Stdin().Close()
		steps(p)
		if mute := []string{"close-stdout", "no-handshake"}; h.Hangs || slices.Contains(mute, h.Operator) {
			got.stalled = p.State().Finished
			_ = pr.Signal(proc.SIGTERM)
		}
		got.exit = waitForExit(t, p, pr, h)
		<-done
		<-done
		if got.exit.Signal != "" {
			break
		}
	}
	got.state = p.State()
	return got
}

// waitForExit waits for the end of a process. If it does not end, the test fails with the
// fault and the state of the play.
func waitForExit(t *testing.T, p *standin.Play, pr proc.Process, h fault.Fault) proc.Exit {
	t.Helper()
	end := make(chan proc.Exit, 1)
	go func() { end <- pr.Wait() }()
	select {
	case e := <-end:
		return e
	case <-time.After(time.Minute):
		t.Fatalf("%s: the process has not ended; the play stands at %+v", h, p.State())
		return proc.Exit{}
	}
}

// steps plays until the play halts. It asks last whether a line may be played:
// the reader may make room for it between two questions.
func steps(p *standin.Play) {
	for {
		if _, ok := p.Step(); ok || p.State().Blocked {
			continue
		}
		if _, more := p.Next(); !more {
			return
		}
	}
}

func outs(c *fixtures.Case) []byte {
	var b []byte
	for _, w := range c.Wire {
		if w.Dir == fixtures.Out {
			b = append(append(b, w.Bytes...), '\n')
		}
	}
	return b
}

var someCases = []string{
	"codex/newest/text/unicode-and-markdown", "codex/newest/permission/deny-then-stop", "codex/newest/session/resume-in-a-new-process",
	"claude/newest/text/unicode-and-markdown", "claude/newest/permission/deny-then-stop", "claude/newest/session/resume-in-a-new-process",
}

func TestSplitsKeepTheBytes(t *testing.T) {
	for _, id := range someCases {
		c := load(t, id)
		for _, name := range []string{"split-every-byte", "split-random", "split-random(42)", "glue-lines"} {
			o := named(t, name)
			for _, place := range placesOf(t, o, c) {
				g := gomega.NewWithT(t)
				h := o.Apply(c, place)
				got := play(t, c, h)
				g.Expect(got.state.Finished).To(gomega.BeTrue())
				g.Expect(bytes.Equal(got.out, outs(c))).To(gomega.BeTrue(), "%s: %s", id, h)
				lines := bytes.Count(got.out, []byte("\n"))
				switch name {
				case "split-every-byte":
					g.Expect(got.writes).To(gomega.Equal(len(got.out)))
				case "glue-lines":
					g.Expect(got.writes).To(gomega.BeNumerically("<", lines/2))
				default:
					g.Expect(got.writes).To(gomega.BeNumerically(">", 2*lines))
				}
			}
		}
	}
}

func TestLineEndsAndNoiseChangeNoMessage(t *testing.T) {
	for _, id := range someCases {
		g := gomega.NewWithT(t)
		c := load(t, id)
		whole := func(name string) played {
			o := named(t, name)
			return play(t, c, o.Apply(c, placesOf(t, o, c)[0]))
		}
		g.Expect(string(whole("crlf").out)).To(gomega.Equal(strings.ReplaceAll(string(outs(c)), "\n", "\r\n")))
		g.Expect(string(whole("blank-lines").out)).To(gomega.Equal(strings.ReplaceAll(string(outs(c)), "\n", "\n\n")))
		noisy := whole("stderr-noise")
		g.Expect(noisy.out).To(gomega.Equal(outs(c)))
		g.Expect(bytes.Count(noisy.err, []byte("\n"))).To(gomega.BeNumerically(">=", bytes.Count(outs(c), []byte("\n"))))
	}
}

func TestOneUnknownLineIsAddedAtEachPlace(t *testing.T) {
	for _, id := range someCases {
		c := load(t, id)
		for _, name := range []string{"unknown-message", "garbage-line"} {
			g := gomega.NewWithT(t)
			o := named(t, name)
			places := placesOf(t, o, c)
			g.Expect(places).To(gomega.HaveLen(bytes.Count(outs(c), []byte("\n"))))
			for _, k := range []int{0, len(places) / 2, len(places) - 1} {
				h := o.Apply(c, places[k])
				got := bytes.Split(play(t, c, h).out, []byte("\n"))
				want := bytes.Split(outs(c), []byte("\n"))
				g.Expect(got).To(gomega.HaveLen(len(want) + 1))
				g.Expect(slices.Delete(got, k+1, k+2)).To(gomega.Equal(want), h.String())
			}
		}
	}
}

func TestKillEndsTheProcessAfterEachLine(t *testing.T) {
	for _, id := range []string{"codex/newest/permission/deny-then-stop", "claude/newest/session/resume-in-a-new-process"} {
		c := load(t, id)
		o := named(t, "kill")
		want := bytes.SplitAfter(outs(c), []byte("\n"))
		for k, place := range placesOf(t, o, c) {
			g := gomega.NewWithT(t)
			got := play(t, c, o.Apply(c, place))
			g.Expect(got.exit).To(gomega.Equal(proc.Exit{Code: -1, Signal: proc.SIGKILL}))
			g.Expect(string(got.out)).To(gomega.Equal(string(bytes.Join(want[:k+1], nil))))
		}
	}
}

func TestStalledProcessEndsOnlyByASignal(t *testing.T) {
	c := load(t, "claude/newest/text/plain")
	o := named(t, "stall")
	want := bytes.SplitAfter(outs(c), []byte("\n"))
	for k, place := range placesOf(t, o, c) {
		g := gomega.NewWithT(t)
		got := play(t, c, o.Apply(c, place))
		g.Expect(got.stalled).To(gomega.BeTrue())
		g.Expect(got.exit).To(gomega.Equal(proc.Exit{Code: 143}))
		g.Expect(string(got.out)).To(gomega.Equal(string(bytes.Join(want[:k+1], nil))))
	}
}

func TestExitWithoutNewlineLosesNothingElse(t *testing.T) {
	c := load(t, "codex/newest/text/unicode-and-markdown")
	o := named(t, "exit-without-newline")
	want := bytes.SplitAfter(outs(c), []byte("\n"))
	for k, place := range placesOf(t, o, c) {
		g := gomega.NewWithT(t)
		got := play(t, c, o.Apply(c, place))
		g.Expect(got.exit).To(gomega.Equal(proc.Exit{}))
		g.Expect(string(got.out)).To(gomega.Equal(strings.TrimSuffix(string(bytes.Join(want[:k+1], nil)), "\n")))
	}
}

func TestNoFinalNewlineNeedsAProcessThatExits(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, "codex/newest/text/plain")
	o := named(t, "no-final-newline")
	g.Expect(placesOf(t, o, c)).To(gomega.BeEmpty(), "its client closes it")
	crashed := *c
	crashed.Wire = slices.DeleteFunc(slices.Clone(c.Wire), func(w fixtures.WireLine) bool { return w.Dir == fixtures.EOF })
	places := placesOf(t, o, &crashed)
	g.Expect(places).To(gomega.HaveLen(1))
	got := play(t, &crashed, o.Apply(&crashed, places[0]))
	g.Expect(string(got.out)).To(gomega.Equal(strings.TrimSuffix(string(outs(c)), "\n")))
	g.Expect(placesOf(t, o, load(t, "codexexec/newest/stop/before-the-first-token"))).To(gomega.BeEmpty(), "its client stops the turn")
}

func TestCaseIsNotModified(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, someCases[2])
	before, err := fixtures.FormatWire(c.Wire)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, o := range fault.Operators() {
		for _, place := range placesOf(t, o, c) {
			play(t, c, o.Apply(c, place))
		}
		after, err := fixtures.FormatWire(c.Wire)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(bytes.Equal(after, before)).To(gomega.BeTrue(), o.Name)
	}
}

func TestNamesAreUniqueAndUnknownOnesListThem(t *testing.T) {
	g := gomega.NewWithT(t)
	seen := map[string]bool{}
	for _, o := range fault.Operators() {
		g.Expect(seen[o.Name]).To(gomega.BeFalse())
		g.Expect(o.Doc).NotTo(gomega.BeEmpty())
		seen[o.Name] = true
	}
	_, err := fault.Named("rust")
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("want one of split-every-byte")))
	_, err = fault.Named("kill(3)")
	g.Expect(err).To(gomega.HaveOccurred())
}

// A client may have done its next act before it sees that the process is dead.
func TestKilledProcessIgnoresLaterSteps(t *testing.T) {
	for _, id := range []string{"codex/newest/text/plain", "claude/newest/text/plain"} {
		c := load(t, id)
		for _, name := range []string{"kill", "stall"} {
			for k, place := range placesOf(t, named(t, name), c) {
				g := gomega.NewWithT(t)
				h := named(t, name).Apply(c, place)
				o := standin.Options{Manual: true, KeepIDs: true}
				h.ApplyTo(&o)
				p, err := standin.New(c, o)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				pr, err := p.Launcher().Launch(context.Background(), proc.Command{
					Argv: c.Wire[0].Argv, Dir: "<work>", Env: []string{"HOME=<home>", "CLAUDE_CODE_SDK_READS_SESSION_STATE=1"},
				})
				g.Expect(err).NotTo(gomega.HaveOccurred())
				for _, w := range c.Wire {
					if w.Dir == fixtures.In {
						_, _ = pr.Stdin().Write(append(slices.Clone(w.Bytes), '\n'))
					}
				}
				for _, ok := p.Step(); ok; _, ok = p.Step() {
				}
				_, _ = pr.Stdin().Write([]byte(`{"id":90,"method":"model/list"}` + "\n"))
				_ = pr.Signal(proc.SIGKILL)
				got, err := io.ReadAll(pr.Stdout())
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(string(got)).To(gomega.Equal(string(bytes.Join(bytes.SplitAfter(outs(c), []byte("\n"))[:k+1], nil))))
				g.Expect(p.Unrecorded()).To(gomega.BeEmpty())
				g.Expect(p.Violations()).To(gomega.BeEmpty())
				p.Close()
			}
		}
	}
}

// What a turn's end proves: the same words again, behind it.
func TestLateLinesFollowTheEndOfTheirTurn(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, "codex/newest/text/plain")
	for _, name := range []string{"late-delta", "late-item", "duplicate-end"} {
		o := named(t, name)
		places := placesOf(t, o, c)
		g.Expect(places).To(gomega.HaveLen(1), name)
		h := o.Apply(c, places[0])
		lines := h.Wire(1, c.Wire)
		g.Expect(lines).To(gomega.HaveLen(len(c.Wire)+1), name)
		g.Expect(string(lines[places[0]].Bytes)).To(gomega.ContainSubstring("turn/completed"))
		late := lines[places[0]+1]
		g.Expect(late.Dir).To(gomega.Equal(fixtures.Out))
		found := false
		for _, w := range c.Wire[:places[0]+1] {
			found = found || bytes.Equal(w.Bytes, late.Bytes)
		}
		g.Expect(found).To(gomega.BeTrue(), "%s is a line of before", name)
	}
	g.Expect(placesOf(t, named(t, "late-delta"), load(t, "claude/newest/text/plain"))).To(gomega.BeEmpty(), "no turn follows")
	g.Expect(placesOf(t, named(t, "late-delta"), load(t, "claude/2.1.197/turn/two-turns-one-process"))).To(gomega.BeEmpty(), "its deltas name no message")
}

// While a turn runs, lines of each kind of the previous turn come again.
func TestStaleLinesAreOfThePreviousTurn(t *testing.T) {
	g := gomega.NewWithT(t)
	o := named(t, "stale-line")
	c := load(t, "codex/newest/turn/two-turns-one-process")
	places, methods := placesOf(t, o, c), map[string]bool{}
	g.Expect(places).NotTo(gomega.BeEmpty())
	for _, place := range places {
		h := o.Apply(c, place)
		stale := h.Wire(1, c.Wire)[place+1].Bytes
		at := slices.IndexFunc(c.Wire, func(w fixtures.WireLine) bool { return bytes.Equal(w.Bytes, stale) })
		ended := slices.IndexFunc(c.Wire[at:place], func(w fixtures.WireLine) bool { return bytes.Contains(w.Bytes, []byte(`"turn/completed"`)) })
		g.Expect(at).To(gomega.BeNumerically(">=", 0))
		g.Expect(ended).To(gomega.BeNumerically(">=", 0), "line %d of the turn that runs", at)
		method, _, _ := strings.Cut(strings.TrimPrefix(string(stale), `{"method":"`), `"`)
		methods[method] = true
	}
	g.Expect(methods).To(gomega.Equal(map[string]bool{"item/agentMessage/delta": true, "item/completed": true, "turn/completed": true}))
	g.Expect(placesOf(t, o, load(t, "codex/newest/text/plain"))).To(gomega.BeEmpty(), "it has one turn")
	g.Expect(placesOf(t, o, load(t, "claude/newest/turn/two-turns-one-process"))).To(gomega.BeEmpty(), "its lines name no turn")
}

func TestTerminalFaultsEndAtTheirPlace(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, "claude/newest/text/plain")
	cut := named(t, "cut-line")
	place := placesOf(t, cut, c)[1]
	h := cut.Apply(c, place)
	lines := h.Wire(1, c.Wire)
	g.Expect(lines).To(gomega.HaveLen(place + 2))
	g.Expect(bytes.HasPrefix(c.Wire[place].Bytes, lines[place].Bytes)).To(gomega.BeTrue())
	g.Expect(len(lines[place].Bytes)).To(gomega.BeNumerically("<", len(c.Wire[place].Bytes)))
	g.Expect(h.EndsProcess(lines[place+1])).To(gomega.BeTrue())

	hang := named(t, "close-stdout").Apply(c, place)
	lines = hang.Wire(1, c.Wire)
	g.Expect(lines[place+1].Dir).To(gomega.Equal(standin.Hangup))
	g.Expect(hang.EndsProcess(lines[place+1])).To(gomega.BeTrue())

	mute := named(t, "no-handshake")
	g.Expect(placesOf(t, mute, c)).To(gomega.HaveLen(1))
	h = mute.Apply(c, placesOf(t, mute, c)[0])
	for _, w := range h.Wire(1, c.Wire) {
		g.Expect(w.Dir).NotTo(gomega.Equal(fixtures.Out))
	}
}

func TestOnlyRequestsOfUsersAreRefused(t *testing.T) {
	g := gomega.NewWithT(t)
	for id, want := range map[string]int{"codex/newest/text/plain": 3, "claude/newest/text/plain": 1} {
		c := load(t, id)
		o := named(t, "error-reply")
		g.Expect(placesOf(t, o, c)).To(gomega.HaveLen(want), id)
		for _, place := range placesOf(t, o, c) {
			h := o.Apply(c, place)
			lines := h.Wire(1, c.Wire)
			g.Expect(string(lines[place].Bytes)).To(gomega.ContainSubstring("the fault refuses"))
			for _, w := range lines[place+1:] {
				g.Expect(w.Dir).NotTo(gomega.Equal(fixtures.Out), id)
			}
		}
	}
}

package standin_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	linereader "github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// playOf makes a manual play with recorded ids and a client that echoes.
func playOf(t *testing.T, id string) (*fixtures.Case, *standin.Play, *echoClient) {
	t.Helper()
	c := load(t, id)
	p, err := standin.New(c, standin.Options{Manual: true, KeepIDs: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return c, p, newEchoClient(p)
}

// acts are the recorded lines of the client.
func acts(c *fixtures.Case) []fixtures.WireLine {
	var out []fixtures.WireLine
	for _, w := range c.Wire {
		if w.Dir == fixtures.In {
			out = append(out, w)
		}
	}
	return out
}

func (e *echoClient) write(t *testing.T, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if _, err := e.proc.Stdin().Write([]byte(l + "\n")); err != nil {
			t.Fatalf("write %.100s: %v", l, err)
		}
	}
}

const (
	codexPlain   = "codex/newest/text/plain"
	codexAllow   = "codex/newest/permission/allow"
	codexDeny    = "codex/newest/permission/deny-then-stop"
	codexResume  = "codex/newest/session/resume-in-a-new-process"
	codexLong    = "codex/newest/text/500-tiny-deltas"
	claudePlain  = "claude/newest/text/plain"
	claudeStop   = "claude/newest/stop/mid-text"
	claudeDeny   = "claude/newest/permission/deny-then-stop"
	claudeResume = "claude/newest/session/resume-in-a-new-process"
)

func TestOutputHaltsAtBarriers(t *testing.T) {
	g := gomega.NewWithT(t)
	c, p, e := playOf(t, codexPlain)
	g.Expect(p.State().AwaitSpawn).To(gomega.BeTrue())
	g.Expect(e.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
	var kinds []standin.Kind
	for !p.State().Finished {
		e.steps()
		b := p.State().Barrier
		if b == nil {
			break
		}
		kinds = append(kinds, b.Kind)
		before := len(p.ClientActions())
		_, moved := p.Step()
		g.Expect(moved).To(gomega.BeFalse(), "played past %s", b.Kind)
		if b.Kind == standin.KindClose {
			g.Expect(e.proc.Stdin().Close()).To(gomega.Succeed())
		} else {
			e.write(t, string(b.Line.Bytes))
		}
		w := p.ClientActions()[before]
		g.Expect(w.Kind).To(gomega.Equal(b.Kind))
		g.Expect(w.Matched).To(gomega.BeIdenticalTo(b.Line))
	}
	g.Expect(kinds).To(gomega.Equal([]standin.Kind{standin.KindOpen, standin.KindOpen, standin.KindSend, standin.KindClose}))
	g.Expect(p.State().Finished).To(gomega.BeTrue())
	g.Expect(e.proc.Wait()).To(gomega.Equal(proc.Exit{}))
}

func TestEarlyStepWaitsForItsBarrier(t *testing.T) {
	for _, id := range []string{codexPlain, claudePlain, claudeStop} {
		g := gomega.NewWithT(t)
		c, p, e := playOf(t, id)
		g.Expect(e.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
		for _, w := range acts(c) { // the stop of claudeStop too: long before any text
			e.write(t, string(w.Bytes))
		}
		e.steps()
		g.Expect(p.State().Barrier.Kind).To(gomega.Equal(standin.KindClose))
		g.Expect(e.proc.Stdin().Close()).To(gomega.Succeed())
		e.steps()
		e.proc.Wait()
		e.read.Wait()
		same(t, e.out[1].String(), recorded(c, fixtures.Out, 1))
		g.Expect(p.Unrecorded()).To(gomega.BeEmpty())
	}
}

func TestWrongAnswerIsAViolationAndThePlayContinues(t *testing.T) {
	for id, change := range map[string][2]string{
		codexDeny:  {`"decline"`, `"accept"`},
		claudeDeny: {`"behavior":"deny"`, `"behavior":"allow"`},
		codexAllow: {`"accept"`, `"cancel"`},
	} {
		g := gomega.NewWithT(t)
		c, p, e := playOf(t, id)
		e.instead = func(w *fixtures.WireLine) []string {
			return []string{strings.Replace(string(w.Bytes), change[0], change[1], 1)}
		}
		g.Expect(e.perform(c)).To(gomega.Succeed())
		g.Expect(p.Violations()).To(gomega.HaveLen(1), id)
		g.Expect(p.Violations()[0]).To(gomega.MatchRegexp(`must answer (deny, sent allow|allow, sent cancel)`))
		g.Expect(p.State().Finished).To(gomega.BeTrue())
	}
}

func TestEquivalentAnswersAreTheSame(t *testing.T) {
	for id, change := range map[string][2]string{
		codexAllow:                       {`"accept"`, `"accept","note":1`},
		claudeDeny:                       {`The user said no.`, `not now`},
		"claude/newest/permission/allow": {`"updatedInput":`, `"somethingElse":`}, // without it the tool runs as asked
	} {
		g := gomega.NewWithT(t)
		c, p, e := playOf(t, id)
		changed := 0
		e.instead = func(w *fixtures.WireLine) []string {
			s := strings.Replace(string(w.Bytes), change[0], change[1], 1)
			if s != string(w.Bytes) {
				changed++
			}
			return []string{s}
		}
		g.Expect(e.perform(c)).To(gomega.Succeed())
		g.Expect(changed).To(gomega.BeNumerically(">", 0), id)
		g.Expect(p.Violations()).To(gomega.BeEmpty())
	}
}

func TestUnexpectedRepliesAreViolations(t *testing.T) {
	g := gomega.NewWithT(t)
	c, p, e := playOf(t, codexAllow)
	e.instead = func(w *fixtures.WireLine) []string {
		s := string(w.Bytes)
		if strings.Contains(s, `"decision"`) {
			return []string{s, s, `{"id":77,"result":{"decision":"accept"}}`, `{"id":"0","result":{"decision":"accept"}}`}
		}
		return []string{s}
	}
	g.Expect(e.perform(c)).To(gomega.Succeed())
	g.Expect(p.Violations()).To(gomega.HaveLen(3))
	g.Expect(p.Violations()[0]).To(gomega.ContainSubstring("a second time"))
	g.Expect(p.Violations()[1]).To(gomega.ContainSubstring("never made"))
	g.Expect(p.Violations()[2]).To(gomega.ContainSubstring(`"0", which was never made`))
}

func TestUnrecordedStepGetsAnErrorReply(t *testing.T) {
	g := gomega.NewWithT(t)
	c, p, e := playOf(t, codexPlain)
	e.instead = func(w *fixtures.WireLine) []string {
		s := string(w.Bytes)
		if strings.Contains(s, "turn/start") {
			other := strings.Replace(s, `"text":"`, `"text":"Oh, `, 1)
			return []string{other, `{"id":50,"method":"turn/interrupt","params":{"threadId":"x","turnId":"y"}}`, `{"id":51,"method":"weather/read"}`, s}
		}
		return []string{s}
	}
	g.Expect(e.perform(c)).To(gomega.Succeed())
	g.Expect(p.Unrecorded()).To(gomega.HaveLen(3))
	g.Expect(p.Unrecorded()[0]).To(gomega.HavePrefix("process 1: send (turn/start)"))
	out := e.out[1].String()
	g.Expect(strings.Count(out, `{"error":{"code":-32600,`)).To(gomega.Equal(3))
	g.Expect(out).To(gomega.ContainSubstring(`"no active turn to interrupt"},"id":50}`))
	g.Expect(p.State().Finished).To(gomega.BeTrue())
}

// Some clients send a transcript, even of one message.
func TestMessageAtTheEndOfATranscriptMatches(t *testing.T) {
	for said, held := range map[string]bool{
		"User: Name three rivers.": true,
		"Be brief.\n\nHuman: Hello.\n\nAssistant: Hello.\n\nHuman: Name three rivers.": true,
		"User: Name three rivers. Quick!":                                              false,
		"Please: do it: Name three rivers.":                                            false,
		"User:Name three rivers.":                                                      false,
	} {
		g := gomega.NewWithT(t)
		c, p, e := playOf(t, codexPlain)
		e.instead = func(w *fixtures.WireLine) []string {
			return []string{strings.Replace(string(w.Bytes), "Name three rivers.", strings.ReplaceAll(said, "\n", `\n`), 1)}
		}
		err := e.perform(c)
		if held {
			g.Expect(err).To(gomega.Succeed())
			g.Expect(p.Unrecorded()).To(gomega.BeEmpty(), said)
			g.Expect(p.State().Finished).To(gomega.BeTrue())
		} else {
			g.Expect(p.Unrecorded()).To(gomega.HaveLen(1), said)
		}
	}
}

// Plays at once may share a lifecycle: none writes into its bytes, not even
// behind them.
// A client that stops before its first message, and waits for the reply, must
// not wait for that of a stop which the recording's client did later.
func TestEarlyStopIsAnsweredAtOnce(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, "claude/newest/stop/when-idle")
	life, err := fixtures.LoadReadReplies(c.Runtime, c.Version)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := standin.New(c, standin.Options{Manual: true, KeepIDs: true, ReadReplies: life})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer p.Close()
	e := newEchoClient(p)
	g.Expect(e.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
	e.write(t, `{"type":"control_request","request_id":"i","request":{"subtype":"initialize"}}`)
	e.write(t, `{"type":"control_request","request_id":"early","request":{"subtype":"interrupt"}}`)
	e.steps()
	g.Expect(e.proc.Stdin().Close()).To(gomega.Succeed())
	e.steps()
	e.proc.Wait()
	e.read.Wait()
	g.Expect(e.out[1].String()).To(gomega.ContainSubstring(`"request_id":"early"`))
	g.Expect(p.Unrecorded()).To(gomega.BeEmpty())
}

func TestEarlyCloseGetsTheRecordedExit(t *testing.T) {
	for _, id := range []string{codexPlain, claudePlain} {
		g := gomega.NewWithT(t)
		c, p, e := playOf(t, id)
		g.Expect(e.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
		e.write(t, string(acts(c)[0].Bytes))
		e.steps()
		g.Expect(e.proc.Stdin().Close()).To(gomega.Succeed())
		e.steps()
		g.Expect(e.proc.Wait()).To(gomega.Equal(proc.Exit{}))
		g.Expect(p.State().Finished).To(gomega.BeTrue())
		_, err := e.proc.Stdin().Write([]byte("{}\n"))
		g.Expect(err).To(gomega.MatchError(io.ErrClosedPipe))
	}
}

func TestSignalsEndAProcessAsTheRuntime(t *testing.T) {
	for _, x := range []struct {
		id   string
		s    proc.Signal
		want proc.Exit
	}{
		{codexPlain, proc.SIGTERM, proc.Exit{}},
		{codexPlain, proc.SIGINT, proc.Exit{Code: -1, Signal: proc.SIGINT}},
		{claudePlain, proc.SIGTERM, proc.Exit{Code: 143}},
		{claudePlain, proc.SIGKILL, proc.Exit{Code: -1, Signal: proc.SIGKILL}},
	} {
		g := gomega.NewWithT(t)
		c, p, e := playOf(t, x.id)
		g.Expect(e.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
		g.Expect(e.proc.Signal(x.s)).To(gomega.Succeed())
		g.Expect(e.proc.Wait()).To(gomega.Equal(x.want))
		g.Expect(e.proc.Signal(x.s)).To(gomega.Succeed(), "a second signal")
		g.Expect(p.State().Finished).To(gomega.BeTrue())
	}
}

func TestProcessWaitsForASlowReader(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, codexLong)
	p, err := standin.New(c, standin.Options{Manual: true, KeepIDs: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer p.Close()
	pr, err := p.Launcher().Launch(context.Background(), proc.Command{Argv: c.Wire[0].Argv, Dir: "<work>", Env: []string{"HOME=<home>"}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, w := range acts(c) {
		_, _ = pr.Stdin().Write(append(w.Bytes, '\n'))
	}
	n := 0
	for _, ok := p.Step(); ok; _, ok = p.Step() {
		n++
	}
	g.Expect(p.State().Blocked).To(gomega.BeTrue())
	g.Expect(n).To(gomega.BeNumerically("<", len(c.Wire)/2+50))
	var got bytes.Buffer
	done := make(chan struct{})
	go func() { defer close(done); _, _ = io.Copy(&got, pr.Stdout()) }()
	for p.State().Barrier == nil {
		p.Step()
	}
	_ = pr.Stdin().Close()
	for !p.State().Finished {
		p.Step()
	}
	<-done
	same(t, got.String(), recorded(c, fixtures.Out, 1))
}

func TestLinesPlayAtTheirRecordedTimes(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, claudePlain)
	var got []time.Duration
	synctest.Test(t, func(*testing.T) {
		p, err := standin.New(c, standin.Options{Speed: 0.5})
		if err != nil {
			return
		}
		pr, err := p.Launcher().Launch(context.Background(), proc.Command{Argv: c.Wire[0].Argv, Env: []string{"CLAUDE_CODE_SDK_READS_SESSION_STATE=1"}})
		if err != nil {
			return
		}
		start := time.Now()
		for _, w := range acts(c) {
			_, _ = pr.Stdin().Write(append(w.Bytes, '\n'))
		}
		_ = pr.Stdin().Close()
		lines := linereader.NewReader(pr.Stdout(), 0)
		for {
			if _, err := lines.Next(); err != nil {
				break
			}
			got = append(got, time.Since(start))
		}
		pr.Wait()
		p.Close()
	})
	var want []time.Duration
	var at, last time.Duration
	for _, w := range c.Wire {
		if w.Dir == fixtures.Out || w.Dir == fixtures.Err {
			at += 2 * (w.T - last) // at half the speed; the client's own time is not waited for
		}
		if last = w.T; w.Dir == fixtures.Out {
			want = append(want, at)
		}
	}
	g.Expect(len(got)).To(gomega.BeNumerically(">", 10))
	g.Expect(got).To(gomega.Equal(want))
}

func TestVersionIsNoProcessOfTheCase(t *testing.T) {
	for id, want := range map[string]string{codexPlain: "codex-cli VERSION\n", claudePlain: "VERSION (Claude Code)\n"} {
		g := gomega.NewWithT(t)
		c, p, e := playOf(t, id)
		pr, err := p.Launcher().Launch(context.Background(), proc.Command{Argv: []string{c.Runtime, "--version"}})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		out, err := io.ReadAll(pr.Stdout())
		g.Expect(string(out), err).To(gomega.Equal(strings.Replace(want, "VERSION", c.Version, 1)))
		g.Expect(pr.Wait()).To(gomega.Equal(proc.Exit{}))
		g.Expect(e.perform(c)).To(gomega.Succeed())
		g.Expect(p.State().Finished).To(gomega.BeTrue())
	}
}

func TestUnknownSessionIsNotFound(t *testing.T) {
	g := gomega.NewWithT(t)
	_, p, _ := playOf(t, claudePlain)
	pr, err := p.Launcher().Launch(context.Background(), proc.Command{Argv: []string{"claude", "-p", "--resume=11111111-2222-4333-8444-555555555555"}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	out, _ := io.ReadAll(pr.Stdout())
	text, _ := io.ReadAll(pr.Stderr())
	g.Expect(out).To(gomega.BeEmpty())
	g.Expect(string(text)).To(gomega.ContainSubstring("No conversation found with session ID"))
	g.Expect(pr.Wait().Code).To(gomega.Equal(1))
	g.Expect(p.Unrecorded()).To(gomega.HaveLen(1))

	c, p2, e := playOf(t, codexResume)
	e.instead = func(w *fixtures.WireLine) []string {
		s := string(w.Bytes)
		if strings.Contains(s, "thread/resume") {
			return []string{`{"id":2,"method":"thread/resume","params":{"threadId":"11111111-2222-4333-8444-555555555555"}}`}
		}
		return []string{s}
	}
	_ = e.perform(c)
	g.Expect(e.out[2].String()).To(gomega.ContainSubstring("no rollout found for thread id 11111111-2222-4333-8444-555555555555"))
	g.Expect(p2.Unrecorded()).To(gomega.HaveLen(1))
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, codexLong)
	var exit proc.Exit
	synctest.Test(t, func(*testing.T) { // it fails if a goroutine is left
		p, err := standin.New(c, standin.Options{Speed: 1})
		if err != nil {
			return
		}
		pr, err := p.Launcher().Launch(context.Background(), proc.Command{Argv: c.Wire[0].Argv})
		if err != nil {
			return
		}
		for _, w := range acts(c)[:1] {
			_, _ = pr.Stdin().Write(append(slices.Clone(w.Bytes), '\n'))
		}
		go func() { exit = pr.Wait() }()
		time.Sleep(time.Millisecond)
		p.Close()
		p.Close()
	})
	g.Expect(exit.Signal).To(gomega.Equal(proc.SIGKILL))
}

func TestNothingWorksBeforeInitializeOnCodex(t *testing.T) {
	g := gomega.NewWithT(t)
	c, p, e := playOf(t, codexPlain)
	g.Expect(e.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
	e.write(t, `{"id":1,"method":"thread/start","params":{}}`)
	g.Expect(e.proc.Stdin().Close()).To(gomega.Succeed())
	e.steps()
	e.read.Wait()
	g.Expect(e.out[1].String()).To(gomega.Equal(`{"error":{"code":-32600,"message":"Not initialized"},"id":1}` + "\n"))
	g.Expect(p.Violations()).To(gomega.HaveLen(1))
}

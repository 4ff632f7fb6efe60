package load

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/standin"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// timed records the time of each write.
type timed struct {
	at    []time.Duration
	lines []string
	start time.Time
	slow  time.Duration // time that the reader takes for each
}

func (w *timed) Write(b []byte) (int, error) {
	w.at = append(w.at, time.Since(w.start))
	w.lines = append(w.lines, string(b))
	time.Sleep(w.slow)
	return len(b), nil
}

var cases = []string{"codex/newest/text/plain", "claude/newest/text/plain", "claude/2.1.197/text/two-blocks", "codex/0.98.0/tool/text-tool-text-three-rounds"}

// performed plays alone, in virtual time.
func performed(t *testing.T, p Plan, slow time.Duration) *timed {
	t.Helper()
	s, err := p.Load()
	if err != nil {
		t.Fatal(err)
	}
	out := &timed{slow: slow}
	synctest.Test(t, func(*testing.T) {
		out.start = time.Now()
		now := func() int64 { return time.Now().UnixNano() }
		clock := Clock{now, func(due int64) { time.Sleep(time.Duration(due - now())) }}
		_, err = s.Serve(context.Background(), clock, nil, strings.NewReader("go\n"), out)
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestAStretchedCaseKeepsItsForm: only the stretched delta and the lines that repeat
// the text change.
func TestAStretchedCaseKeepsItsForm(t *testing.T) {
	for _, id := range cases {
		t.Run(id, func(t *testing.T) {
			g := NewWithT(t)
			const n = 50
			one := performed(t, Plan{Case: id, Deltas: 1, Rate: 100, Alone: true}, 0)
			many := performed(t, Plan{Case: id, Deltas: n, Rate: 100, Pad: 5, Alone: true}, 0)
			g.Expect(many.lines).To(HaveLen(len(one.lines) + n - 1))
			runtime, _, _ := strings.Cut(id, "/")
			said, stamps, at := "", 0, []time.Duration{}
			for i, l := range many.lines {
				text := standin.TextDelta(runtime, []byte(l))
				if !strings.HasPrefix(text, "@") {
					continue
				}
				said += text
				at = append(at, many.at[i])
				var r Stamps
				r.Feed([]byte(text), func(s Stamp) {
					g.Expect(s.Index).To(Equal(stamps))
					g.Expect(s.Sent).To(Equal(s.Due))
					stamps++
				})
				g.Expect(text).To(HaveSuffix(";xxxxx"))
			}
			g.Expect(stamps).To(Equal(n))
			for i := range at {
				g.Expect(at[i]-at[0]).To(Equal(time.Duration(i)*10*time.Millisecond), "delta %d", i)
			}
			whole := 0
			for _, l := range many.lines {
				if standin.TextDelta(runtime, []byte(l)) == "" && strings.Contains(l, `"`+said) {
					whole++
				}
			}
			g.Expect(whole).To(BeNumerically(">", 0), "the text as a whole holds what was said")
		})
	}
}

// TestASlowReaderDelaysNoSchedule: due times do not depend on the reader; late
// deltas have late stamps.
func TestASlowReaderDelaysNoSchedule(t *testing.T) {
	g := NewWithT(t)
	out := performed(t, Plan{Case: cases[0], Deltas: 20, Rate: 100, Alone: true}, 15*time.Millisecond)
	var first, last Stamp
	var r Stamps
	r.Feed([]byte(strings.Join(out.lines[:len(out.lines)-6], "")), func(s Stamp) {
		if s.Index == 0 {
			first = s
		}
		last = s
	})
	g.Expect(last.Index).To(Equal(19))
	g.Expect(last.Due - first.Due).To(Equal(int64(190 * time.Millisecond)))
	g.Expect(last.Sent - last.Due).To(Equal(int64(95 * time.Millisecond)))
}

func TestInvalidPlansAreErrors(t *testing.T) {
	for want, p := range map[string]Plan{
		"0 deltas":         {Case: cases[0]},
		"from 0 on":        {Case: cases[0], Deltas: 1, Rate: -1},
		"nope":             {Case: "codex/newest/text/nope", Deltas: 1},
		"no delta of text": {Case: "codex/newest/text/without-deltas", Deltas: 1},
	} {
		_, err := p.Load()
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)))
	}
}

// TestProgramsPlay checks too that programs and hosts write their Effort.
func TestProgramsPlay(t *testing.T) {
	if testing.Short() {
		t.Skip("starts programs")
	}
	g := NewWithT(t)
	p := Plan{Case: cases[0], Deltas: 5, Alone: true}
	post, err := NewPost(p, "codex")
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(post.Close()).To(Succeed()) }()
	h, err := NewHost(context.Background(), post, p, 0)
	g.Expect(err).NotTo(HaveOccurred())
	for range 3 {
		c, err := h.Launcher().Launch(context.Background(), command("x"))
		g.Expect(err).NotTo(HaveOccurred())
		_, err = c.Stdin().Write([]byte("go\n"))
		g.Expect(err).NotTo(HaveOccurred())
		var text bytes.Buffer
		_, err = text.ReadFrom(c.Stdout())
		g.Expect(err).NotTo(HaveOccurred())
		n := 0
		var r Stamps
		r.Feed(bytes.SplitAfter(text.Bytes(), []byte("item/completed"))[0], func(Stamp) { n++ })
		g.Expect(text.String()).To(ContainSubstring(Ready))
		g.Expect(strings.Count(text.String(), "agentMessage/delta")).To(Equal(7))
		g.Expect(c.Wait().Code).To(BeZero())
	}
	g.Expect(h.Close()).To(Succeed())
	all, err := Efforts(post.Dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all).To(HaveLen(1))
	g.Expect(all[0].CPU).To(BeNumerically(">", 0))
}

func command(argv ...string) proc.Command { return proc.Command{Argv: argv} }

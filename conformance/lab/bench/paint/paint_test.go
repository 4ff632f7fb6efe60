package paint

import (
	"errors"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/page/browser"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/lab/bench"
)

// TestFloodFigures checks the figures of a flood of four deltas, of which a frame shows the
// first and another one the rest.
func TestFloodFigures(t *testing.T) {
	g := NewWithT(t)
	start := time.Now()
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	began := map[int64]time.Time{4: at(0), 5: at(10), 6: at(20), 7: at(30)}
	r := &run{doc: &bench.Document{}}
	g.Expect(r.addFlood(contenders[0], marks{frames: []frame{{3, at(-5)}, {4, at(16)}, {9, at(116)}}}, began, 0.1)).To(Succeed())
	figure := func(measure string) float64 { return r.doc.Find("source", Flood, Page, measure).Samples[0] }
	g.Expect(figure("painted")).To(BeNumerically("~", 0.116))
	g.Expect(figure("backlog-age")).To(BeNumerically("~", 0.106), "delta 5 waited the longest")
	g.Expect(figure("backlog-depth")).To(BeEquivalentTo(3))
	err := r.addFlood(contenders[0], marks{frames: []frame{{6, at(100)}}}, began, 0.1)
	g.Expect(err).To(MatchError("3 of 4 deltas were drawn"))
}

// TestStoredSession checks that a stored session is one that the reducer reads whole.
func TestStoredSession(t *testing.T) {
	g := NewWithT(t)
	all := stored("s", 1000)
	g.Expect(len(all)).To(BeNumerically("~", 1000, 90))
	var events []event.Event
	for _, e := range all {
		b, err := e.MarshalJSON()
		g.Expect(err).NotTo(HaveOccurred())
		read, err := event.Decode(b)
		g.Expect(err).NotTo(HaveOccurred(), string(b))
		events = append(events, read)
	}
	r := replay.New()
	for _, e := range events {
		r.Add(e)
	}
	g.Expect(r.Chat().Messages).To(HaveLen(2 * all[len(all)-1].Turn))
}

// TestRun measures the page once, with few events.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a browser, which takes seconds")
	}
	g := NewWithT(t)
	c := Config{Deltas: 300, Events: []int{300}, Repeats: 1, UseChat: os.Getenv("TURNSPEC_USECHAT")} // make test-usechat
	d, err := c.Run(t.Context())
	if errors.Is(err, browser.ErrNotInstalled) {
		t.Skip("chromium is not installed: the figures are tested without it")
	}
	g.Expect(err).NotTo(HaveOccurred())
	for _, c := range c.contenders() {
		for load, measures := range map[string][]string{
			Turn:            {"send click -> first text paint", "first text delta -> first text paint"},
			Flood:           {"painted", "backlog-depth", "backlog-age", "longest-frame"},
			storedLoad(300): {"old-session click -> recent messages paint", "detail success -> timeline idle complete", "rows"},
		} {
			for _, m := range measures {
				s := d.Find("source", load, c.name, m)
				g.Expect(s).NotTo(BeNil(), "%s of %s, load %s", m, c.name, load)
				g.Expect(s.Samples).To(HaveLen(1))
				g.Expect(s.Samples[0]).To(BeNumerically(">=", 0))
			}
		}
	}
	g.Expect(d.Find("source", Flood, Page, "painted").Samples[0]).To(BeNumerically(">", 0))
	g.Expect(d.Find("source", storedLoad(300), Page, "rows").Samples[0]).To(BeNumerically(">", 20))
}

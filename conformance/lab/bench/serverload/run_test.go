package serverload

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
)

func TestMain(m *testing.M) {
	Main(map[string]Open{"sqlite": func(ctx context.Context, dir string) (eventlog.Log, error) {
		return sqlite.Open(ctx, filepath.Join(dir, "log.db"), sqlite.Options{})
	}})
	os.Exit(m.Run())
}

// TestRunCountsEvents runs a small load. Its times are not judged.
func TestRunCountsEvents(t *testing.T) {
	t.Parallel()
	for _, log := range []string{"sqlite", "memory"} {
		t.Run(log, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			steps := 0
			c := Config{Sessions: 3, Listeners: 2, Rate: 20, For: 500 * time.Millisecond, Idle: 20, Log: log, Dir: t.TempDir()}
			r, err := Run(t.Context(), c, func(int, int, string) { steps++ })
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(steps).To(Equal(3))
			g.Expect(r.Phases).To(HaveLen(2))
			for _, p := range r.Phases {
				g.Expect(p.Delivered).To(BeEquivalentTo(3 * 2 * (10 + eventsBesides)))
				g.Expect(p.Lost + p.Doubled).To(BeZero())
				g.Expect(p.HTTP.Max).To(BeNumerically(">", 0))
				g.Expect(p.InProcess.Max).To(BeNumerically(">", 0))
			}
			g.Expect(r.Idle.Listeners).To(Equal(20))
			g.Expect(r.Idle.PerListener).To(BeNumerically(">", 0))
		})
	}
}

// TestListenersCount gives listeners the streams of broken servers.
func TestListenersCount(t *testing.T) {
	for _, c := range []struct {
		name                     string
		seqs                     []int
		delivered, lost, doubled int64
		problem                  string
	}{
		{"all", []int{1, 2, 3, 4}, 4, 0, 0, ""},
		{"lost", []int{1, 3, 4}, 3, 1, 0, ""},
		{"doubled", []int{1, 2, 2, 3, 4}, 4, 0, 1, ""},
		{"out of order", []int{1, 3, 2, 4}, 3, 1, 1, ""},
		{"cut", []int{1, 2}, 2, 2, 0, "ended after event 2 of 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for _, seq := range c.seqs {
					_, _ = fmt.Fprintf(w, "id: %d\ndata: {\"data\":{\"text\":\"%d \"}}\n\n", seq, time.Now().UnixNano())
				}
			}))
			defer s.Close()
			listeners := &crowd{address: strings.TrimPrefix(s.URL, "http://"), want: 4, delays: newHistogram()}
			listeners.listen(t.Context(), "/events")
			listeners.connected.Wait()
			listeners.ended.Wait()
			g.Expect([]int64{listeners.delivered, listeners.lost, listeners.doubled}).To(Equal([]int64{c.delivered, c.lost, c.doubled}))
			g.Expect(listeners.delays.TotalCount()).To(BeEquivalentTo(len(c.seqs)))
			if c.problem != "" {
				g.Expect(listeners.problem).To(MatchError(ContainSubstring(c.problem)))
			} else {
				g.Expect(listeners.problem).NotTo(HaveOccurred())
			}
		})
	}
}

package eventlog_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

func TestTitleIsCutBetweenRunes(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"short":           {" Fix\n the  bug ", "Fix the bug"},
		"long":            {strings.Repeat("é", 200), strings.Repeat("é", 79) + "…"},
		"just fits":       {strings.Repeat("é", 80) + " \n", strings.Repeat("é", 80)},
		"after spaces":    {strings.Repeat(" ", 1279) + "é", "é"},
		"between spaces":  {"a" + strings.Repeat(" ", 1278) + "éb", "a éb"},
		"not valid UTF-8": {"a\xff\xfeb", "a\uFFFD\uFFFDb"}, // as in the JSON form
	} {
		t.Run(name, func(t *testing.T) {
			var info eventlog.Info
			info.Add(event.Event{SessionID: "s", Seq: 1, Data: event.UserMessage{Text: c.text}})
			NewWithT(t).Expect(info.Title).To(Equal(c.want))
		})
	}
}

// An event that is appended after a follower has read nothing, and before it
// waits, is emitted.
func TestTailEmitsEventAppendedBetweenReadAndWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var stored []event.Event
		changed := make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		read := func(after int64) ([]event.Event, error) {
			page := stored[after:]
			if len(page) == 0 {
				stored = append(stored, deltaAt(after+1))
				close(changed)
				changed = make(chan struct{})
			}
			return page, nil
		}
		var got int64
		for e, err := range eventlog.Tail(ctx, 0, func() <-chan struct{} { return changed }, read) {
			g.Expect(err).NotTo(HaveOccurred())
			if got = e.Seq; got == 3 {
				break
			}
		}
		g.Expect(got).To(BeEquivalentTo(3))
		g.Expect(errors.Is(ctx.Err(), context.DeadlineExceeded)).To(BeFalse())
	})
}

package eventlog_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// strictLog rejects an event that refers to a medium which it does not hold.
type strictLog struct {
	eventlog.Memory
	put  func() error // called before each PutMedia
	puts int
}

var errNoMedia = errors.New("the event refers to a medium that the log does not hold")

func (l *strictLog) Append(ctx context.Context, events ...event.Event) error {
	for _, e := range events {
		if d, is := e.Data.(event.ToolResult); is {
			for _, m := range d.Media {
				if _, _, err := l.Media(ctx, e.SessionID, m.SHA256); err != nil {
					return errNoMedia
				}
			}
		}
	}
	return l.Memory.Append(ctx, events...)
}

func (l *strictLog) PutMedia(ctx context.Context, session string, m event.Media, data []byte) error {
	l.puts++
	if l.put != nil {
		if err := l.put(); err != nil {
			return err
		}
	}
	return l.Memory.PutMedia(ctx, session, m, data)
}

// resultAt returns an event with media of the texts.
func resultAt(seq int64, texts ...string) event.Event {
	d := event.ToolResult{ToolUseID: "t", Status: event.ToolOK}
	for _, text := range texts {
		d.Media = append(d.Media, imageOf(text))
	}
	e := deltaAt(seq)
	e.Data = d
	return e
}

func imageOf(text string) event.Media {
	return event.MediaOf(event.MediaImage, "image/png", []byte(text))
}

// record records events and returns the error of the recorder.
func record(log eventlog.Log, o eventlog.RecorderOptions, events ...event.Event) error {
	c := make(chan event.Event, len(events))
	for _, e := range events {
		c <- e
	}
	close(c)
	r := eventlog.Record(log, c, o)
	r.Detach()
	for range r.Events() {
	}
	return r.Err()
}

// A recorder stores the media of an event before the event, and after those before it, also
// if all of them are in its queue.
func TestRecorderStoresMediaFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		log := &strictLog{}
		var q eventlog.MediaQueue
		for _, text := range []string{"one", "two", "two", "three", "one"} {
			q.Add(imageOf(text), []byte(text))
		}
		var failed []event.Media
		o := eventlog.RecorderOptions{Media: &q, MediaFailed: func(m event.Media, _ error) { failed = append(failed, m) }}
		g.Expect(record(log, o, deltaAt(1), deltaAt(2), resultAt(3, "one", "two"), resultAt(4, "two"), deltaAt(5), resultAt(6, "three", "one"), deltaAt(7))).To(Succeed())
		g.Expect(lastSeqOf(log)).To(BeEquivalentTo(7))
		g.Expect(failed).To(BeEmpty())
		g.Expect(log.ListMedia(t.Context(), "s")).To(ConsistOf(imageOf("one"), imageOf("two"), imageOf("three")))
	})
}

// While the log is busy, a recorder tries to store a medium again. If it cannot, it reports
// that and stores the event.
func TestRecorderReportsMedia(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		put    func(try int) error
		handed []string
		failed error
		puts   int
		after  time.Duration
	}{
		"a busy log":              {func(try int) error { return map[bool]error{true: eventlog.ErrBusy}[try < 3] }, []string{"x"}, nil, 3, 150 * time.Millisecond},
		"a broken log":            {func(int) error { return broken }, []string{"x"}, broken, 1, 0},
		"bytes of another":        {nil, []string{"y"}, errors.ErrUnsupported, 0, 0},
		"bytes that are kept":     {nil, []string{"x"}, nil, 1, 0},
		"bytes handed over twice": {nil, []string{"x", "x"}, nil, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				log := &strictLog{}
				if c.put != nil {
					log.put = func() error { return c.put(log.puts) }
				}
				var q eventlog.MediaQueue
				for _, text := range c.handed {
					q.Add(imageOf(text), []byte(text))
				}
				var failed []error
				began := time.Now()
				o := eventlog.RecorderOptions{Media: &q, MediaFailed: func(m event.Media, err error) {
					g.Expect(m).To(Equal(imageOf("x")))
					failed = append(failed, err)
				}}
				err := record(log, o, deltaAt(1), resultAt(2, "x"))
				g.Expect(log.puts).To(Equal(c.puts))
				g.Expect(time.Since(began)).To(Equal(c.after))
				if c.failed == nil {
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(failed).To(BeEmpty())
					return
				}
				g.Expect(err).To(MatchError(errNoMedia), "the event is appended")
				g.Expect(failed).To(HaveLen(1))
				if c.puts > 0 {
					g.Expect(failed[0]).To(MatchError(c.failed))
				}
			})
		})
	}
}

// A MediaQueue holds a bounded number of bytes, and has room again when the recorder has
// taken some.
func TestMediaQueueIsBounded(t *testing.T) {
	g := NewWithT(t)
	var q eventlog.MediaQueue
	q.Add(imageOf("a"), []byte("a"))
	large := event.Media{Kind: event.MediaImage, SHA256: "large"} // its hash is not looked at
	for range 10 {
		q.Add(large, make([]byte, eventlog.MediaBytes))
	}
	q.Add(large, make([]byte, eventlog.MediaBytes+1))
	q.Add(imageOf("b"), []byte("b"))
	lost := 0
	o := eventlog.RecorderOptions{Media: &q, MediaFailed: func(event.Media, error) { lost++ }}
	log := &eventlog.Memory{}
	full := resultAt(2, "a", "b")
	g.Expect(record(log, o, deltaAt(1), full)).To(Succeed())
	g.Expect(log.ListMedia(t.Context(), "s")).To(ConsistOf(imageOf("a"), imageOf("b")))
	g.Expect(lost).To(BeZero())
	d := event.ToolResult{ToolUseID: "t", Status: event.ToolOK, Media: []event.Media{large, large, large}}
	e := deltaAt(3)
	e.Data = d
	g.Expect(record(log, o, e)).To(Succeed())
	g.Expect(lost).To(Equal(3), "one is another's bytes, and two had no room")
}

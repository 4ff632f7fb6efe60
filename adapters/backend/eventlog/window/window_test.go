package window

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

func TestMain(m *testing.M) {
	if racesample.Enabled {
		_ = flag.Set("rapid.checks", "20") // instead of 100; Set accepts any number
	}
	os.Exit(m.Run())
}

// countingLog counts the events that Read returns.
type countingLog struct {
	eventlog.Log
	read int
}

func (c *countingLog) Read(ctx context.Context, session string, after int64, limit int) ([]event.Event, error) {
	events, err := c.Log.Read(ctx, session, after, limit)
	c.read += len(events)
	return events, err
}

// drawSession draws a session of n events with turns, tools, sub-agents,
// questions and retracted text.
func drawSession(t *rapid.T, n int) []event.Event {
	draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "") }
	id := func(p string) string { return fmt.Sprint(p, draw(4)) }
	turn := 1
	var out []event.Event
	for i := range n {
		e := event.Event{SessionID: "s", Seq: int64(i + 1), Turn: turn, TS: time.Date(2026, 11, 21, 10, 0, i/8, 0, time.UTC)}
		switch draw(16) {
		case 0, 1:
			e.Data = event.Done{Stopped: draw(2) == 0}
			turn++
		case 2:
			e.Data = event.UserMessage{MessageID: id("m"), Text: "and now?", Via: event.ViaTurn}
		case 3:
			e.Data = event.BlockEnd{BlockID: id("b"), Status: []event.BlockStatus{"complete", "retracted", "interrupted"}[draw(3)]}
		case 4:
			e.Data = event.ToolStart{ToolUseID: id("k"), Tool: "Bash", SubagentSpawn: draw(2) == 0}
		case 5:
			e.Data = event.ToolResult{ToolUseID: id("k"), Output: "a", Status: []event.ToolStatus{"ok", "backgrounded"}[draw(2)]}
		case 6, 7:
			e.Data = event.Task{TaskID: id("k"), Kind: []event.TaskKind{"subagent", "command"}[draw(2)], ToolUseID: id("k"), Status: []event.TaskStatus{"running", "completed", "failed"}[draw(3)]}
		case 8:
			e.Data = event.PermissionRequest{RequestID: id("r"), ToolName: "Bash"}
		case 9:
			e.Data = event.PermissionResolved{RequestID: id("r"), Decision: "deny", By: "user"}
		case 10:
			e.Turn, e.Data = 0, event.Notice{Level: "info", Code: "warning", Text: "w"}
		case 11:
			e.Turn, e.Data = 0, event.SessionReady{SessionID: "s", Runtime: "codex"}
		case 12:
			e.Data = event.ComponentUpdate{ComponentID: id("c"), ComponentName: "Card", Surface: "chat", Props: event.Raw(`{"a":1}`)}
		default:
			e.Data = event.Delta{Text: "word ", MessageID: "x", BlockID: id("b")}
		}
		if draw(4) == 0 && e.Turn > 0 {
			e.SubagentID = id("k")
		}
		out = append(out, e)
	}
	return out
}

func prettyJSON(v any) string {
	b, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent(" "))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Paged back to the first message, a window shows the chat that all events make,
// when it is opened and after it has followed the rest of the session.
func TestWindowIsEndOfChat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := drawSession(t, rapid.IntRange(1, 80).Draw(t, "events"))
		p := rapid.IntRange(0, len(events)).Draw(t, "opened after")
		n, page := rapid.IntRange(0, 6).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "page")
		checkWindow(t, events, p, n, page, rapid.IntRange(0, 4).Draw(t, "kept"))
	})
}

// Sessions on which rapid found a difference.
func TestWindowRegressions(t *testing.T) {
	spawn := event.ToolStart{ToolUseID: "k", Tool: "Bash", SubagentSpawn: true}
	stop := event.Done{Stopped: true}
	retracted := []event.Event{
		{Turn: 1, Data: event.Delta{Text: "word ", MessageID: "x", BlockID: "b0"}},
		{Turn: 1, Data: event.Task{TaskID: "k0", Kind: event.TaskCommand, ToolUseID: "k0", Status: event.TaskRunning}},
		{Turn: 1, Data: event.BlockEnd{BlockID: "b0", Status: event.BlockRetracted}},
		{Turn: 1, Data: stop},
	}
	for turn := 2; turn < 8; turn++ {
		retracted = append(retracted, event.Event{Turn: turn, SubagentID: "k", Data: stop})
	}
	retracted = append(retracted, event.Event{Turn: 8, Data: stop})
	for _, c := range []struct {
		name         string
		events       []event.Event
		opened, kept int
	}{
		// Seed 4319286968042299460: the sub-agent of the first message moves below
		// the tool that spawned it, which starts turns later.
		{"an older message becomes empty", []event.Event{
			{Turn: 1, SubagentID: "k", Data: spawn},
			{Turn: 1, SubagentID: "k", Data: event.UserMessage{MessageID: "m", Text: "and now?", Via: event.ViaTurn}},
			{Turn: 1, SubagentID: "k", Data: stop},
			{Turn: 2, Data: stop},
			{Turn: 3, Data: spawn},
			{Turn: 3, Data: stop},
			{Turn: 1, Data: event.Delta{Text: "late", MessageID: "x", BlockID: "b"}},
		}, 2, 0},
		// Seed 12061053005336196644: the first message is empty when the snapshot
		// is stored, and its turn is stopped later.
		{"a message that was empty in a snapshot reappears", retracted, len(retracted), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.events {
				e := &c.events[i]
				e.SessionID, e.Seq, e.TS = "s", int64(i+1), time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
			}
			for n := range 3 {
				checkWindow(t, c.events, c.opened, n, 1, c.kept)
			}
		})
	}
}

// checkWindow opens a window of n messages after p events, follows the rest, and
// compares both states with the chat of all events.
func checkWindow(t rapid.TB, events []event.Event, p, n, page, kept int) {
	ctx := context.Background()
	log := Keep(&eventlog.Memory{}).(*keeper)
	log.kept, log.fewest = kept, 300
	for _, e := range events[:p] {
		if err := log.Append(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	w, err := Open(ctx, log, "s", n)
	if err != nil {
		t.Fatal(err)
	}
	comparePaged(ctx, t, w, replay.Reduce(events[:p]), n, page)
	if p == len(events) {
		return
	}
	if err := log.Append(ctx, events[p:]...); err != nil {
		t.Fatal(err)
	}
	for v, err := range w.Follow(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if v.Seq() == int64(len(events)) {
			break
		}
	}
	comparePaged(ctx, t, w, replay.Reduce(events), 0, page)
}

// comparePaged pages back from a window and compares all its messages with the
// chat's. At least n of them must be in the window itself.
func comparePaged(ctx context.Context, t rapid.TB, w *Window, want *replay.Chat, n, page int) {
	got := w.Messages()
	if len(got) < min(n, len(want.Messages)) {
		t.Fatalf("%d messages, want %d of %d", len(got), n, len(want.Messages))
	}
	if head := w.View().Head(); !reflect.DeepEqual(head.Tasks, want.Tasks) || head.Status != want.Status {
		t.Fatalf("the head is %s, want %s", prettyJSON(head), prettyJSON(want))
	}
	for len(got) > 0 {
		older, err := w.Before(ctx, got[0], page)
		if err != nil {
			t.Fatal(err)
		}
		if len(older) > page {
			t.Fatalf("%d messages, want at most %d", len(older), page)
		}
		if len(older) == 0 {
			break
		}
		got = append(older, got...)
	}
	if len(got) == 0 {
		return // the window is empty, so there is no message to page back from
	}
	if len(got) != len(want.Messages) {
		t.Fatalf("%d messages in all, want %d", len(got), len(want.Messages))
	}
	for i, m := range got {
		if !reflect.DeepEqual(m, &want.Messages[i]) {
			t.Fatalf("message %d is\n%s\nwant\n%s", i, prettyJSON(m), prettyJSON(want.Messages[i]))
		}
	}
}

// conversationEvent returns event i of a session of similar turns.
func conversationEvent(i int) event.Event {
	const length = 20
	turn := 1 + i/length
	e := event.Event{SessionID: "s", Seq: int64(i + 1), Turn: turn, TS: time.Date(2026, 11, 21, 10, 0, 0, i*1000, time.UTC)}
	switch i % length {
	case 0:
		e.Data = event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{fmt.Sprint("m", turn)}}
	case 1:
		e.Data = event.UserMessage{MessageID: fmt.Sprint("m", turn), Text: "And now?", Via: event.ViaTurn}
	case 8:
		e.Data = event.ToolStart{ToolUseID: fmt.Sprint("t", i), Tool: "Bash", Command: "git status"}
	case 9:
		e.Data = event.ToolResult{ToolUseID: fmt.Sprint("t", i-1), Output: "On branch main", Status: event.ToolOK}
	case length - 1:
		e.Data = event.Done{}
	default:
		e.Data = event.Delta{Text: "some words ", MessageID: "m", BlockID: fmt.Sprint(turn, ".", i%length/9)}
	}
	return e
}

func filledLog(tb testing.TB, n int) *countingLog {
	tb.Helper()
	log := &countingLog{Log: &eventlog.Memory{}}
	kept := Keep(log)
	var batch []event.Event
	for i := range n {
		batch = append(batch, conversationEvent(i))
		if len(batch) == 500 || i == n-1 {
			if err := kept.Append(context.Background(), batch...); err != nil {
				tb.Fatal(err)
			}
			batch = batch[:0]
		}
	}
	log.read = 0
	return log
}

// sessionSizes returns the lengths of the compared sessions, in events.
func sessionSizes() []int {
	if racesample.Enabled || testing.Short() {
		return []int{5_000, 20_000}
	}
	if racesample.Whole() {
		return []int{10_000, 100_000, 1_000_000}
	}
	return []int{10_000, 100_000}
}

func TestOpenCostIsIndependentOfLength(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	for _, n := range sessionSizes() {
		log := filledLog(t, n)
		began := time.Now()
		w, err := Open(ctx, log, "s", 50)
		g.Expect(err).NotTo(HaveOccurred())
		_ = w.Messages()
		took := time.Since(began)
		opened := log.read
		g.Expect(len(w.Messages())).To(BeNumerically(">=", 50))
		log.read = 0
		older, err := w.Before(ctx, w.Messages()[0], 50)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(older).To(HaveLen(50))
		t.Logf("%d events: %d read to open in %v, %d to page back", n, opened, took, log.read)
		g.Expect(opened).To(BeNumerically("<", 1500))
		g.Expect(log.read).To(BeNumerically("<", 3000))
		g.Expect(w.Messages()[len(w.Messages())-1].Turn).To(Equal((n + 19) / 20))
	}
}

// All snapshots of a session together take at most the bytes of its events.
func TestSnapshotsTakeConstantFactor(t *testing.T) {
	long := func(i int) event.Event { // all in one message
		e := conversationEvent(i)
		e.Turn, e.Data = 1, event.Delta{Text: "some words ", MessageID: "m", BlockID: "b"}
		return e
	}
	for name, next := range map[string]func(int) event.Event{"turns": conversationEvent, "one message": long} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			log := &weighingLog{Log: &eventlog.Memory{}}
			kept := Keep(log)
			for i := range 20_000 {
				g.Expect(kept.Append(context.Background(), next(i))).To(Succeed())
			}
			t.Logf("%d bytes of events, %d snapshots of %d bytes", log.events, log.count, log.snapshots)
			g.Expect(log.count).To(BeNumerically(">", 2))
			g.Expect(log.snapshots).To(BeNumerically("<", log.events))
		})
	}
}

type weighingLog struct {
	eventlog.Log
	events, snapshots, count int
}

func (w *weighingLog) Append(ctx context.Context, events ...event.Event) error {
	for _, e := range events {
		b, _ := e.MarshalJSON()
		w.events += len(b)
	}
	return w.Log.Append(ctx, events...)
}

func (w *weighingLog) PutSnapshot(ctx context.Context, session string, seq int64, kind string, data []byte) error {
	w.snapshots += len(data)
	w.count++
	return w.Log.PutSnapshot(ctx, session, seq, kind, data)
}

// Open ignores a snapshot that is of another version or session, or damaged.
func TestOpenIgnoresUnusableSnapshot(t *testing.T) {
	ctx := context.Background()
	for name, damage := range map[string]func([]byte) []byte{
		"older":       func(b []byte) []byte { return bytes.Replace(b, []byte(`"version":2`), []byte(`"version":1`), 1) },
		"newer":       func(b []byte) []byte { return bytes.Replace(b, []byte(`"version":2`), []byte(`"version":99`), 1) },
		"cut":         func(b []byte) []byte { return b[:len(b)/2] },
		"empty":       func([]byte) []byte { return nil },
		"not JSON":    func([]byte) []byte { return []byte("\x00\xff") },
		"another seq": func(b []byte) []byte { return bytes.Replace(b, []byte(`"seq":`), []byte(`"seq":1`), 1) },
		"another session": func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"session_id":"s"`), []byte(`"session_id":"z"`), 1)
		},
		"dangling": func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"current_turn":`), []byte(`"current_turn":9`), 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			log := filledLog(t, 3000)
			seq, data, err := log.Snapshot(ctx, "s", Kind, 1<<40)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(seq).NotTo(BeZero())
			damaged := damage(data)
			g.Expect(damaged).NotTo(Equal(data))
			for ; seq > 0; seq, _, _ = log.Snapshot(ctx, "s", Kind, seq-1) {
				g.Expect(log.PutSnapshot(ctx, "s", seq, Kind, damaged)).To(Succeed())
			}
			w, err := Open(ctx, log, "s", 50)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(w.Messages()).To(HaveLen(300))
			g.Expect(log.read).To(Equal(3000))
		})
	}
}

// noSnapshotLog returns errors for snapshots.
type noSnapshotLog struct{ eventlog.Log }

func (noSnapshotLog) Snapshot(context.Context, string, string, int64) (int64, []byte, error) {
	return 0, nil, eventlog.ErrCorrupt
}

func (noSnapshotLog) PutSnapshot(context.Context, string, int64, string, []byte) error {
	return eventlog.ErrFull
}

func TestOpenWithoutSnapshotsReadsAll(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	log := noSnapshotLog{&eventlog.Memory{}}
	kept := Keep(log)
	for i := range 3000 {
		g.Expect(kept.Append(ctx, conversationEvent(i))).To(Succeed())
	}
	w, err := Open(ctx, log, "s", 50)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(w.Messages()).To(HaveLen(300))
	closed, cancel := context.WithCancel(ctx)
	cancel()
	_, err = Open(closed, log, "s", 50)
	g.Expect(err).To(MatchError(context.Canceled))
	w, err = Open(ctx, log, "unknown", 50)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(w.Messages()).To(BeEmpty())
}

// Keep continues a session of an earlier Keep or of another writer.
func TestKeepContinuesSession(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	log := filledLog(t, 10_000)
	for i := 10_000; i < 20_000; i += 500 {
		var batch []event.Event
		for j := range 500 {
			batch = append(batch, conversationEvent(i+j))
		}
		k := eventlog.Log(log)
		if i%2000 != 0 {
			k = Keep(log) // a new one each time, and without one every fourth time
		}
		g.Expect(k.Append(ctx, batch...)).To(Succeed())
	}
	log.read = 0
	w, err := Open(ctx, log, "s", 50)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(w.Messages())).To(BeNumerically(">=", 50))
	g.Expect(log.read).To(BeNumerically("<", 3000))
}

// If another program appends between two appends of Keep, Keep reduces its events
// too, and session_end frees the memory.
func TestKeepReadsEventsOfAnotherWriter(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	store := &eventlog.Memory{}
	kept := Keep(store).(*keeper)
	kept.fewest = 1
	g.Expect(kept.Append(ctx, conversationEvent(0), conversationEvent(1))).To(Succeed())
	g.Expect(store.Append(ctx, conversationEvent(2))).To(Succeed())
	end := event.Event{SessionID: "s", Seq: 5, TS: conversationEvent(4).TS, Data: event.SessionEnd{Reason: "closed"}}
	g.Expect(kept.Append(ctx, conversationEvent(3), end)).To(Succeed())
	seq, data, err := store.Snapshot(ctx, "s", Kind, 5)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(seq).To(BeEquivalentTo(5))
	r, err := replay.Restore(data)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Chat().Text(1)).To(Equal("some words some words "))
	g.Expect(kept.sessions).To(BeEmpty())
}

package adapters_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seedVar names the variable that repeats a stress run.
const seedVar = "TURNSPEC_STRESS_SEED"

// TestSessionsUnderStress misuses many sessions at once: whatever a client does at
// whatever moment, the stream of events keeps its rules.
func TestSessionsUnderStress(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv(seedVar); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVar, err)
		}
	}
	t.Logf("%s=%d", seedVar, seed)
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	const sessions, workers = 240, 16
	work := make(chan uint64)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for n := range work {
				t.Run(fmt.Sprint("session ", n), func(t *testing.T) {
					r := rand.New(rand.NewPCG(seed, n))
					c, err := randomCase(r, ids)
					if err != nil {
						t.Fatal(err)
					}
					// Time is virtual, so pauses cost nothing and limits are exact;
					// a goroutine that is left running fails the bubble.
					synctest.Test(t, func(*testing.T) {
						err = misuse(r, c)
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
	for n := range uint64(sessions) {
		work <- n
	}
	close(work)
	wg.Wait()
}

// randomCase returns a case that opens a session.
func randomCase(r *rand.Rand, ids []string) (*fixtures.Case, error) {
	for {
		id := ids[r.IntN(len(ids))]
		_, _, scenario := fixtures.SplitCaseID(id)
		if scenario == "text/500-tiny-deltas" {
			continue // long and uniform
		}
		scn, err := fixtures.LoadScenario(scenario)
		if err != nil {
			return nil, err
		}
		if open := scn.Client[0]; !open.Refused && open.What != "bare" {
			return fixtures.LoadCase(id)
		}
	}
}

// killableLauncher lets the test kill the process that it launched.
type killableLauncher struct {
	proc.Launcher
	mu sync.Mutex
	p  proc.Process
}

func (m *killableLauncher) Launch(ctx context.Context, c proc.Command) (proc.Process, error) {
	p, err := m.Launcher.Launch(ctx, c)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.p = p
	return p, err
}

func (m *killableLauncher) kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.p != nil {
		_ = m.p.Signal(proc.SIGKILL)
	}
}

// misuse runs one session against a case that is played by the stand-in.
func misuse(r *rand.Rand, c *fixtures.Case) error {
	play, err := standin.New(c, standin.Options{Seed: r.Uint64()})
	if err != nil {
		return err
	}
	defer play.Close()
	a := reference.Of(c.Runtime)
	m := &killableLauncher{Launcher: play.Launcher()}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if r.IntN(20) == 0 {
		time.AfterFunc(time.Duration(r.IntN(2000))*time.Microsecond, cancel)
	}
	// Opening keeps its default limits: the stand-in answers at once, and a busy
	// machine does not use them up.
	s, err := a.Open(ctx, adapters.Options{Opening: op.Opening{SessionID: "s", Dir: "/w"}, Launch: m, Env: []string{"HOME=/h"}, Limits: adapters.Limits{
		Stop: 30 * time.Millisecond, CloseStdin: 20 * time.Millisecond, Term: 2 * time.Second}})
	if err != nil {
		if _, ok := errors.AsType[*adapters.OpenError](err); !ok {
			return fmt.Errorf("%s: open: %T %w, want an OpenError", c.ID, err, err)
		}
		if ctx.Err() == nil {
			return fmt.Errorf("%s: %w", c.ID, err)
		}
		return nil
	}
	l := startReader(r, s)
	var steps sync.WaitGroup
	for range 1 + r.IntN(3) {
		script := rand.New(rand.NewPCG(r.Uint64(), 1))
		steps.Go(func() { l.callRandomly(script, s) })
	}
	if r.IntN(4) == 0 {
		wait := time.Duration(r.IntN(3000)) * time.Microsecond
		steps.Go(func() { time.Sleep(wait); m.kill() })
	}
	if r.IntN(2) == 0 { // else Close runs in parallel
		steps.Wait()
	}
	closing, dropped := context.Background(), false
	switch r.IntN(4) {
	case 0:
		var done context.CancelFunc
		closing, done = context.WithCancel(closing)
		done()
		dropped = true
	case 1:
		var done context.CancelFunc
		closing, done = context.WithTimeout(closing, 50*time.Millisecond)
		defer done()
		dropped = true
	}
	began := time.Now()
	for range 1 + r.IntN(2) {
		if err := s.Close(closing); err != nil {
			return fmt.Errorf("%s: close: %w", c.ID, err)
		}
	}
	took := time.Since(began)
	if took > 5*time.Second {
		return fmt.Errorf("%s: close took %v", c.ID, took)
	}
	steps.Wait()
	select {
	case <-l.done:
	case <-time.After(5 * time.Second):
		return fmt.Errorf("%s: the reader still waits after the session was closed", c.ID)
	}
	left := time.After(time.Second)
	for open := true; open; {
		select {
		case _, open = <-s.Events(): // what the channel still held
		case <-left:
			return fmt.Errorf("%s: Events is open after Close", c.ID)
		}
	}
	if err := s.Send(context.Background(), adapters.Message{ID: "late", Text: "x"}); !errors.Is(err, adapters.ErrClosed) {
		return fmt.Errorf("%s: send after close: %w, want %w", c.ID, err, adapters.ErrClosed)
	}
	if err := checkStream(l.events, l.cut || dropped); err != nil {
		return fmt.Errorf("%s: after %d events, closed within %v: %w", c.ID, len(l.events), took, err)
	}
	return nil
}

// eventReader reads a session's events, fast or slowly, to the end or not.
type eventReader struct {
	stops  bool // it is meant to stop before the end
	cut    bool // after done: it did stop before the end
	done   chan struct{}
	events []event.Event // after done
	mu     sync.Mutex
	asked  []string
}

func startReader(r *rand.Rand, s adapters.Session) *eventReader {
	l := &eventReader{done: make(chan struct{})}
	slow, left := r.IntN(3) == 0, -1
	if r.IntN(5) == 0 {
		l.stops, left = true, r.IntN(20)
		l.cut = left == 0
	}
	pause := rand.New(rand.NewPCG(r.Uint64(), 2))
	go func() {
		defer close(l.done)
		for left != 0 {
			e, ok := <-s.Events()
			if !ok {
				return
			}
			left--
			l.events = append(l.events, e)
			l.mu.Lock()
			switch d := e.Data.(type) {
			case event.PermissionRequest:
				l.asked = append(l.asked, d.RequestID)
			case event.Interrupt:
				l.asked = append(l.asked, d.InterruptID)
			}
			l.mu.Unlock()
			l.cut = left == 0
			if slow {
				time.Sleep(time.Duration(pause.IntN(300)) * time.Microsecond)
			}
		}
	}()
	return l
}

func (l *eventReader) randomQuestion(r *rand.Rand) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.asked) == 0 || r.IntN(8) == 0 {
		return "unknown question"
	}
	return l.asked[r.IntN(len(l.asked))]
}

// callRandomly calls the methods that clients call, at any moment. It ignores their
// results: only that they return matters.
func (l *eventReader) callRandomly(r *rand.Rand, s adapters.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	id := r.Uint32()
	for i := range 1 + r.IntN(6) {
		time.Sleep(time.Duration(r.IntN(1000)) * time.Microsecond)
		m := adapters.Message{ID: fmt.Sprintf("m%d-%d", id, i), Text: "word"}
		switch r.IntN(6) {
		case 0, 1:
			_ = s.Send(ctx, m)
		case 2:
			_ = s.Stop(ctx)
		case 3, 4:
			d := []event.Decision{event.DecisionAllow, event.DecisionDeny, event.DecisionCancel}[r.IntN(3)]
			_ = s.Answer(ctx, l.randomQuestion(r), adapters.Answer{Decision: d})
		case 5:
			if st, ok := adapters.As[adapters.Steerer](s); ok {
				_ = st.Steer(ctx, m)
			}
		}
	}
}

// checkStream checks the rules of a stream. If it was not read to its end, closing
// events may be missing.
func checkStream(events []event.Event, cut bool) error {
	ended, began := map[int]int{}, map[int]bool{}
	open := map[string]bool{}
	for i, e := range events {
		if e.Seq != int64(i+1) {
			return fmt.Errorf("event %d has seq %d", i+1, e.Seq)
		}
		if (i == 0) != (e.Type() == event.TypeSessionReady) {
			return fmt.Errorf("event %d is %s: session_ready comes first, once", i+1, e.Type())
		}
		if e.Turn > 0 && e.SubagentID == "" && ended[e.Turn] > 0 {
			return fmt.Errorf("event %d, %s, follows the end of its turn", e.Seq, e.Type())
		}
		within := fmt.Sprintf("%d/%s/", e.Turn, e.SubagentID)
		switch d := e.Data.(type) {
		case event.TurnStart:
			began[e.Turn] = true
		case event.Delta:
			open["block "+d.BlockID] = true
		case event.BlockEnd:
			if !open["block "+d.BlockID] {
				return fmt.Errorf("event %d ends block %s, which is not open", e.Seq, d.BlockID)
			}
			delete(open, "block "+d.BlockID)
		case event.ToolStart:
			open["tool "+within+d.ToolUseID] = true
		case event.ToolResult:
			if !open["tool "+within+d.ToolUseID] {
				return fmt.Errorf("event %d ends tool %s, which is not open", e.Seq, d.ToolUseID)
			}
			delete(open, "tool "+within+d.ToolUseID)
		case event.PermissionRequest:
			open["ask "+d.RequestID] = true
		case event.PermissionResolved:
			if !open["ask "+d.RequestID] {
				return fmt.Errorf("event %d resolves %s, which is not open", e.Seq, d.RequestID)
			}
			delete(open, "ask "+d.RequestID)
		case event.SessionEnd:
			if i != len(events)-1 {
				return fmt.Errorf("event %d is session_end and not the last", e.Seq)
			}
		}
		if e.Terminal() && e.Turn > 0 && e.SubagentID == "" {
			ended[e.Turn]++
		}
	}
	if cut {
		return nil
	}
	if n := len(events); n == 0 || events[n-1].Type() != event.TypeSessionEnd {
		return errors.New("the stream does not end in session_end")
	}
	for turn := range began {
		if ended[turn] != 1 {
			return fmt.Errorf("turn %d ended %d times", turn, ended[turn])
		}
	}
	for what := range open {
		return fmt.Errorf("%s is open at the end", what)
	}
	return nil
}

package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/eventlog"
	"github.com/turnspec/turnspec/adapters/eventlog/sqlite"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

const (
	envChild  = "TURNSPEC_EVENTLOG_CHILD" // the file that a child appends to
	envRounds = "TURNSPEC_CRASH_ROUNDS"   // instead of 20
)

var crashSessions = []string{"a", "b", "c"}

// runChild appends to a log until it is killed, and prints what was acknowledged.
func runChild() bool {
	if path := os.Getenv(envReadOnly); path != "" {
		printReadOnly(path)
		return true
	}
	path := os.Getenv(envChild)
	if path == "" {
		return false
	}
	if err := appendUntilKilled(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

func appendUntilKilled(path string) error {
	ctx := context.Background()
	log, err := sqlite.Open(ctx, path, sqlite.Options{Relaxed: rand.N(2) == 0}) // a killed program loses nothing either way
	if err != nil {
		return err
	}
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Printf(format, args...) // its parent reads it
	}
	failed := make(chan error)
	for _, session := range crashSessions {
		info, err := log.Session(ctx, session)
		if err != nil && !errors.Is(err, eventlog.ErrUnknownSession) {
			return err
		}
		go func() {
			for seq := info.Last.Seq + 1; ; {
				events := deltas(session, seq, seq+rand.Int64N(20))
				if err := log.Append(ctx, events...); err != nil {
					failed <- err
					return
				}
				last := events[len(events)-1].Seq
				say("%s %d\n", session, last)
				if rand.N(10) == 0 {
					if err := log.PutSnapshot(ctx, session, last, "k", fmt.Appendf(nil, "%s at %d", session, last)); err != nil {
						failed <- err
						return
					}
				}
				seq = last + 1
			}
		}()
	}
	return <-failed
}

// TestCrash kills a program that appends, at random moments, and then wants each
// event whose append had returned: once, in its place, as it was.
func TestCrash(t *testing.T) {
	g := NewWithT(t)
	rounds := 20
	if racesample.Enabled {
		rounds = 5
	}
	if text := os.Getenv(envRounds); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", envRounds, err)
		}
	}
	path := filepath.Join(t.TempDir(), "crash.db")
	acked := map[string]int64{}
	early := 0
	for round := range rounds {
		if round%10 == 9 { // begin anew now and then: a new file is made while it is killed
			path = filepath.Join(t.TempDir(), "crash.db")
			clear(acked)
		}
		told, err := runAndKill(path, acked)
		g.Expect(err).NotTo(HaveOccurred(), "round %d", round)
		if told == 0 {
			early++
		}
		log, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		g.Expect(err).NotTo(HaveOccurred(), "round %d", round)
		for _, session := range crashSessions {
			last, err := checkSession(t.Context(), log, session)
			g.Expect(err).NotTo(HaveOccurred(), "round %d, session %s", round, session)
			g.Expect(last).To(BeNumerically(">=", acked[session]), "round %d: acknowledged events of session %s are lost", round, session)
			info, err := log.Session(t.Context(), session)
			if last > 0 {
				g.Expect(err).NotTo(HaveOccurred())
			}
			g.Expect(info.Last.Seq).To(Equal(last), "round %d: Session of %s", round, session)
		}
		g.Expect(log.Close()).To(Succeed())
		g.Expect(integrityCheck(path)).To(Equal("ok"))
	}
	t.Logf("%d rounds; %v acknowledged in the last file; %d times killed before the first acknowledgement", rounds, acked, early)
}

// runAndKill runs a child and kills it at a random moment, while it begins or after
// some acknowledgements. It notes and counts them.
func runAndKill(path string, acked map[string]int64) (told int, err error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envChild+"="+path)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	lines := bufio.NewReader(out)
	note := func() error {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err // a line that was cut was not said
		}
		session, seq, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.ParseInt(seq, 10, 64)
		if err != nil {
			return fmt.Errorf("the child said %q", line)
		}
		acked[session] = max(acked[session], n)
		told++
		return nil
	}
	if rand.N(4) == 0 {
		time.Sleep(rand.N(25 * time.Millisecond)) // no moment is wrong: it may just have begun
	} else {
		for range rand.N(30) {
			if err = note(); err != nil {
				break
			}
		}
		for range rand.N(1 << 14) { // and a moment later
			_ = rand.Int()
		}
	}
	err = errors.Join(err, cmd.Process.Kill())
	for err == nil { // what was acknowledged before it died
		err = note()
	}
	_ = cmd.Wait() // it was killed
	if !errors.Is(err, io.EOF) {
		return told, fmt.Errorf("%w\nstderr: %s", err, &stderr)
	}
	return told, nil
}

// checkSession wants a session to be a prefix of what the child says, and its snapshots
// to be of events that are there.
func checkSession(ctx context.Context, log eventlog.Log, session string) (last int64, err error) {
	for e, err := range eventlog.All(ctx, log, session, 0) {
		if err != nil {
			return last, err
		}
		if want := delta(session, last+1); !equalEvents(e, want) {
			return last, fmt.Errorf("want %+v, got %+v", want, e)
		}
		last++
	}
	seq, data, err := log.Snapshot(ctx, session, "k", 1<<62)
	if want := fmt.Sprintf("%s at %d", session, seq); err == nil && seq > 0 && (seq > last || string(data) != want) {
		err = fmt.Errorf("the session ends at %d, and there is a snapshot %q at %d", last, data, seq)
	}
	return last, err
}

func equalEvents(a, b event.Event) bool {
	x, err := a.AppendJSON(nil)
	y, err2 := b.AppendJSON(nil)
	return err == nil && err2 == nil && string(x) == string(y)
}

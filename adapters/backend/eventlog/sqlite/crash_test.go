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

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

const (
	envChild  = "TURNSPEC_EVENTLOG_CHILD" // the file that the child process appends to
	envRounds = "TURNSPEC_CRASH_ROUNDS"   // number of rounds, instead of 20
)

var crashSessions = []string{"a", "b", "c"}

// runChild runs the part of a child process and reports if this is one. The child
// appends to a log until it is killed, and prints the acknowledged seqs.
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
	log, err := sqlite.Open(ctx, path, sqlite.Options{Relaxed: rand.N(2) == 0}) // a killed process loses nothing either way
	if err != nil {
		return err
	}
	var mu sync.Mutex
	printf := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Printf(format, args...) // read by the parent
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
				printf("%s %d\n", session, last)
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

// TestCrash kills a process that appends, at random moments. Each event whose
// append had returned must then be in the file once, unchanged.
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
		if round%10 == 9 { // sometimes kill it while it creates the file
			path = filepath.Join(t.TempDir(), "crash.db")
			clear(acked)
		}
		count, err := runAndKill(path, acked)
		g.Expect(err).NotTo(HaveOccurred(), "round %d", round)
		if count == 0 {
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

// runAndKill runs a child and kills it at a random moment, during its start or after
// some acknowledgements. It stores them in acked and returns their number.
func runAndKill(path string, acked map[string]int64) (count int, err error) {
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
	readLine := func() error {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err // ignores a line that was cut
		}
		session, seq, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.ParseInt(seq, 10, 64)
		if err != nil {
			return fmt.Errorf("the child wrote %q", line)
		}
		acked[session] = max(acked[session], n)
		count++
		return nil
	}
	if rand.N(4) == 0 {
		time.Sleep(rand.N(25 * time.Millisecond)) // any moment will do, also during the start
	} else {
		for range rand.N(30) {
			if err = readLine(); err != nil {
				break
			}
		}
		for range rand.N(1 << 14) { // spend a random moment more
			_ = rand.Int()
		}
	}
	err = errors.Join(err, cmd.Process.Kill())
	for err == nil { // acknowledgements before the kill
		err = readLine()
	}
	_ = cmd.Wait() // fails, because it was killed
	if !errors.Is(err, io.EOF) {
		return count, fmt.Errorf("%w\nstderr: %s", err, &stderr)
	}
	return count, nil
}

// checkSession returns an error if a session is not a prefix of the child's events, or
// has a snapshot of events that are not stored.
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
	x, errX := a.AppendJSON(nil)
	y, errY := b.AppendJSON(nil)
	return errX == nil && errY == nil && string(x) == string(y)
}

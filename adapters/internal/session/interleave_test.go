package session

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
)

// scheduler lets one goroutine run at a time and decides which one. Goroutines stop at
// gates: before they take the lock, where the test calls gate, and, if the code that is
// tested started them, after they have released the lock. It is the lock of an outbox too, so that the gates are in the code that is
// tested, in every goroutine that this code starts.
//
// It works in a synctest bubble, where it can wait until no goroutine can run.
type scheduler struct {
	mu      sync.Mutex
	waiting []gate
	names   map[string]string // of goroutines, by id
	unnamed int
	held    bool // the lock is
	holder  string
	free    bool // gates are open: the run is judged, and its goroutines should end
	opened  chan struct{}
}

type gate struct {
	who, what string
	open      chan struct{}
}

func newScheduler() *scheduler {
	return &scheduler{names: map[string]string{}, opened: make(chan struct{})}
}

const unnamed = "outbox's " // goroutines, with a number

// goroutineID returns the id of the calling goroutine.
func goroutineID() string {
	var b [40]byte
	id, _, _ := bytes.Cut(bytes.TrimPrefix(b[:runtime.Stack(b[:], false)], []byte("goroutine ")), []byte(" "))
	return string(id)
}

// start runs f in a goroutine that is called name.
func (s *scheduler) start(name string, f func()) {
	go func() {
		s.mu.Lock()
		s.names[goroutineID()] = name
		s.mu.Unlock()
		f()
	}()
}

// gate returns when the scheduler chooses the calling goroutine, which is called who.
func (s *scheduler) gate(who, what string) {
	s.mu.Lock()
	if s.free {
		s.mu.Unlock()
		return
	}
	g := gate{who, what, make(chan struct{})}
	s.waiting = append(s.waiting, g)
	s.mu.Unlock()
	select {
	case <-g.open:
	case <-s.opened:
	}
}

// caller returns the name of the calling goroutine.
func (s *scheduler) caller() string {
	id := goroutineID()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names[id] == "" {
		s.unnamed++
		s.names[id] = fmt.Sprint(unnamed, s.unnamed)
	}
	return s.names[id]
}

// Lock implements [sync.Locker].
func (s *scheduler) Lock() {
	who := s.caller()
	s.gate(who, "lock")
	for !s.tryLock() { // only when gates are open
		runtime.Gosched()
	}
	s.holder = who
}

// Unlock implements [sync.Locker].
func (s *scheduler) Unlock() {
	s.mu.Lock()
	s.held = false
	who := s.holder
	s.mu.Unlock()
	if strings.HasPrefix(who, unnamed) { // the others do nothing that shows before their next gate
		s.gate(who, "unlocked")
	}
}

func (s *scheduler) tryLock() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.held
	s.held = true
	return !taken
}

// isAtGate reports whether a goroutine waits at a gate.
func (s *scheduler) isAtGate(who string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.waiting, func(g gate) bool { return g.who == who })
}

// choices waits until no goroutine runs, and returns the gates that may be opened.
func (s *scheduler) choices() []gate {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.DeleteFunc(slices.Clone(s.waiting), func(g gate) bool { return s.held && g.what == "lock" })
	slices.SortFunc(out, func(a, b gate) int { return strings.Compare(a.who+a.what, b.who+b.what) })
	return out
}

// open lets the goroutine at a gate run until it is at its next one.
func (s *scheduler) open(g gate) {
	s.mu.Lock()
	s.waiting = slices.DeleteFunc(s.waiting, func(w gate) bool { return w.open == g.open })
	s.mu.Unlock()
	close(g.open)
}

// openAll opens all gates permanently.
func (s *scheduler) openAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = true
	close(s.opened)
}

// state describes which goroutine is where. Those that the outbox started are equal.
func (s *scheduler) state() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, g := range s.waiting {
		out = append(out, strings.TrimRight(g.who, "0123456789")+" "+g.what)
	}
	slices.Sort(out)
	return fmt.Sprint(s.held, out)
}

// run is one run of goroutines under a scheduler.
type run interface {
	begin(s *scheduler)
	// state describes all that decides what may follow, except what scheduler.state does.
	state() string
	// problem says what is wrong when no goroutine runs, or "". stuck: none can.
	problem(stuck bool) string
	// cleanUp makes the goroutines end.
	cleanUp()
}

// explore runs each order in which goroutines can pass their gates, and returns the
// first problem with the order that shows it. A state that was seen is not left twice in
// the same way: what follows from it was explored.
func explore(newRun func() run) (runs, states int, problem string) {
	seen := map[string]bool{}
	for todo := [][]int{nil}; len(todo) > 0; runs++ {
		prefix := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		s, r := newScheduler(), newRun()
		r.begin(s)
		var path []int
		var order []string
		for problem == "" {
			choices := s.choices()
			if problem = r.problem(len(choices) == 0); problem != "" || len(choices) == 0 {
				break
			}
			n := 0
			if len(path) < len(prefix) {
				n = min(prefix[len(path)], len(choices)-1)
			} else {
				state := s.state() + r.state()
				if seen[state] {
					break
				}
				seen[state] = true
				for other := 1; other < len(choices); other++ {
					todo = append(todo, append(slices.Clone(path), other))
				}
			}
			path, order = append(path, n), append(order, choices[n].who+" "+choices[n].what)
			s.open(choices[n])
		}
		s.openAll()
		r.cleanUp()
		synctest.Wait()
		if problem != "" {
			return runs + 1, len(seen), problem + ", after: " + strings.Join(order, ", ")
		}
	}
	return runs, len(seen), ""
}

package standin

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/refusal"
)

// Lines that a fault may put into a wire. The process lives on after either.
const (
	Hangup     fixtures.Dir = "hangup" // it closes its stdout
	CloseStdin fixtures.Dir = "deaf"   // it closes its stdin
)

// ReadReplies answers reads and configuration that a case does not hold.
type ReadReplies = *fixtures.ReadReplies

// Options say how to play.
type Options struct {
	ReadReplies ReadReplies // may be nil
	// Requests is what the version does with changed requests; nil: it is not known.
	Requests *refusal.Table
	// Fault changes the lines of one process; nil plays what was recorded. It must
	// not modify the lines that it is given.
	Fault func(process int, lines []fixtures.WireLine) []fixtures.WireLine
	// Chunk cuts what is written to stdout, line end included, into writes; it
	// may also change it. nil writes each line at once.
	Chunk func(line []byte) [][]byte
	// NoLastNewline leaves out the line end of the last line of each process.
	NoLastNewline bool
	// IgnoresSIGTERM reports that SIGTERM ends no process.
	IgnoresSIGTERM bool
	// Manual plays a line at each Step. Otherwise a goroutine plays the lines.
	Manual bool
	// Speed divides the recorded pauses: 1 plays in recorded time, 0 without
	// pauses.
	Speed float64
	// Seed makes the ids that the runtime mints; KeepIDs keeps the recorded ones.
	Seed    uint64
	KeepIDs bool
	// Whole reports that the client repeats all that the recording's client did.
	// Then also steps that a client may leave out are barriers.
	Whole bool
	// Holds reports that the client calls Release for each hold of the scenario. A recorded
	// release is then a barrier.
	Holds bool
	// First is the process that the first launch plays; 0 is 1. A play that
	// begins later takes the ids that it is given.
	First int
}

// Play is one play of a case, with all its processes. Its methods may be called by
// several goroutines.
type Play struct {
	mu     sync.Mutex
	change sync.Cond
	o      Options
	c      *fixtures.Case
	s      *script
	pos    int           // of the line in hand
	at     time.Duration // the recorded time of the line that was played last
	done   chan struct{} // closed by Close
	closed bool
	work   sync.WaitGroup

	launches   []*launch // by process; those before First are nil
	extra      []*launch // that play no process of the case
	bound      map[string]string
	named      map[string]bool // recorded message ids for which the client chose one
	released   map[string]bool // holds
	actions    []*ClientAction
	unrecorded []string
	violations []string
	settings   []Setting
}

// ClientAction is something that the subject did to a process.
type ClientAction struct {
	Process   int
	At        time.Time
	Bytes     []byte // the line without its end
	Kind      Kind
	Method    string             // or the subtype of a control request; the signal
	Matched   *fixtures.WireLine // the recorded step, if there is one
	Answer    string             // Allow, Deny, Cancel, Value, Failed
	RequestID string             // of a request or an answer
	Asked     string             // of an answer: the method of the request, or its subtype
	Tool      string             // of an answer: see wire.Asked
	Calls     bool               // of an answer: the request calls what the client brings; see RuntimeRequest
	Hook      bool               // of an answer: what it calls is a hook
	Text      string             // of a message
	Contrary  string             // of a valid answer: how it differs from what the user chose
}

// Barrier is the recorded step that a play waits for.
type Barrier struct {
	Kind    Kind
	Method  string
	Line    *fixtures.WireLine
	Text    string         // of send and steer; the value of set
	Request string         // of answer: the request's id as this client got it
	Answer  string         // of answer: Allow, Deny, Cancel, Value, Failed
	Value   jsontext.Value // of answer: its content, if it has any
}

// State is where a play is.
type State struct {
	Barrier    *Barrier // the step that it waits for, or nil
	AwaitSpawn bool     // the next process is to be launched
	Blocked    bool     // stdout is full: the subject does not read
	Finished   bool     // all lines were played
	Process    int      // of the next line
}

// StepResult is what a Step did.
type StepResult struct {
	Line  *fixtures.WireLine
	Wrote bool // the line was written to stdout or stderr
}

// New makes a play of a case.
func New(c *fixtures.Case, o Options) (*Play, error) { return newPlay(c, nil, o) }

// New makes a play of the case.
func (r *Prepared) New(o Options) (*Play, error) { return newPlay(r.c, r, o) }

func newPlay(c *fixtures.Case, prepared *Prepared, o Options) (*Play, error) {
	lines := c.Wire
	if o.Fault != nil {
		lines = applyFault(c.Wire, o.Fault)
	}
	s, err := compile(c, lines, prepared)
	if err != nil {
		return nil, err
	}
	for i := range s.lines {
		s.lines[i].step.free = s.lines[i].step.free && !o.Whole
	}
	p := &Play{o: o, c: c, s: s, done: make(chan struct{}), bound: map[string]string{}, named: map[string]bool{}, released: map[string]bool{}}
	p.change.L = &p.mu
	first := max(1, o.First)
	if first >= len(s.processes) {
		return nil, fmt.Errorf("%s: no process %d: the case has %d", c.File, first, len(s.processes)-1)
	}
	p.launches = make([]*launch, first)
	for p.pos < len(s.lines) && s.lines[p.pos].w.Process < first {
		p.pos++
	}
	return p, nil
}

// applyFault applies a fault process by process.
func applyFault(wire []fixtures.WireLine, fault func(int, []fixtures.WireLine) []fixtures.WireLine) []fixtures.WireLine {
	out := make([]fixtures.WireLine, 0, len(wire))
	for n := 1; ; n++ {
		var own []fixtures.WireLine
		if n == 1 {
			own = make([]fixtures.WireLine, 0, len(wire)) // most cases are of one process
		}
		for _, w := range wire {
			if w.Process == n {
				own = append(own, w)
			}
		}
		if len(own) == 0 {
			return out
		}
		for _, w := range fault(n, own) {
			w.Process = n
			out = append(out, w)
		}
	}
}

// Launcher starts the processes of the case: each launch is the next one.
func (p *Play) Launcher() proc.Launcher { return proc.LauncherFunc(p.launch) }

// Close ends all processes and waits for the goroutines of the play.
func (p *Play) Close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.done)
		for _, l := range slices.Concat(p.launches, p.extra) {
			if l != nil {
				l.endProcess(proc.Exit{Code: -1, Signal: proc.SIGKILL})
				_ = l.stdout.Close()
				_ = l.stderr.Close()
			}
		}
		p.change.Broadcast()
	}
	p.mu.Unlock()
	p.work.Wait()
}

// Running counts the processes that were launched and have not ended.
func (p *Play) Running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, l := range p.launches {
		if l != nil && !l.ended {
			n++
		}
	}
	return n
}

// Unread counts the bytes of stdout that the processes have written and the subject
// has not read.
func (p *Play) Unread() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, l := range p.launches {
		if l == nil {
			continue
		}
		n += l.stdout.Unread()
		for _, b := range l.stdout.pending {
			n += len(b)
		}
	}
	return n
}

// ClientActions returns what the subject did so far.
func (p *Play) ClientActions() []ClientAction {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]ClientAction, len(p.actions))
	for i, w := range p.actions {
		out[i] = *w
	}
	return out
}

// Unrecorded returns the steps of the subject that the case does not hold.
func (p *Play) Unrecorded() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.unrecorded)
}

// Violations returns what the subject did against the recording or the wire.
func (p *Play) Violations() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.violations)
}

func (p *Play) unrecordedf(format string, a ...any) {
	p.unrecorded = append(p.unrecorded, fmt.Sprintf(format, a...))
}

func (p *Play) violationf(format string, a ...any) {
	p.violations = append(p.violations, fmt.Sprintf(format, a...))
}

// launchOf returns the launch that plays a process, or nil.
func (p *Play) launchOf(process int) *launch {
	if process < len(p.launches) {
		return p.launches[process]
	}
	return nil
}

// lastLaunch returns the process that was launched last, or nil.
func (p *Play) lastLaunch() *launch {
	return p.launches[len(p.launches)-1]
}

// ProviderSessionID returns the runtime's own id of the session or thread that was
// opened last, as this client gets it; "" before a launch.
func (p *Play) ProviderSessionID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lastLaunch()
	if l == nil || p.s.processes[l.n].session == "" {
		return ""
	}
	return p.playedID(p.s.processes[l.n].session)
}

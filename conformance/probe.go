package conformance

import (
	"context"
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
)

// Probe is what a session's plug found out with requests of its own, such as a second
// listener or a request that is sent twice. A check of the server topic judges it.
type Probe struct {
	Name       string // server.resume, say: the id of the check
	Assertions int    // how many answers or events were compared
	Problems   []string
}

// Prober is a Session that probes its subject.
type Prober interface {
	// Probes is called after the session has ended. It returns a probe for each check of
	// the topic, without assertions if the subject does not support it.
	Probes() []Probe
}

// ListenerLeaver is a Session of a server whose events the suite can stop listening to.
type ListenerLeaver interface {
	// LeaveAndReturn cuts all listeners of the session, and later listens again after the
	// last event that was received.
	LeaveAndReturn(ctx context.Context) error
}

// ProgramSignaller is a Session of a program that the suite started, and can signal.
type ProgramSignaller interface {
	// SignalProgram signals the program, not those that it started, and returns what
	// followed when it has ended or a generous limit has passed. The session cannot be used
	// after it, except for Close.
	SignalProgram(ctx context.Context, s proc.Signal) (SignalResult, error)
}

// SignalResult is what followed when a program was signalled.
type SignalResult struct {
	Signal   proc.Signal
	Exited   bool // within the limit
	Took     time.Duration
	Compared int      // stored events, if the program stores them
	Problems []string // with what it stored
}

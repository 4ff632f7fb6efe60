package process

import (
	"io"
	"sync"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var leavesTheRuntime = broken.Adapter{
	Name: "leaves-the-runtime", Sentence: "assumes that the runtime has exited once it has sent a signal",
	Proves: "process.no-orphans",
	Mutation: broken.Mutation{Launch: func(p proc.Process) proc.Process {
		return unsignal(p)
	}},
}

// unsignalled is a process that drops signals, but reports an exit as if they had
// worked. Wait returns the first of its real exit and that one.
type unsignalled struct {
	proc.Process
	once sync.Once
	exit proc.Exit
	over chan struct{}
}

func unsignal(p proc.Process) *unsignalled {
	u := &unsignalled{Process: p, over: make(chan struct{})}
	go func() { u.end(p.Wait(), func() {}) }()
	return u
}

func (u *unsignalled) end(e proc.Exit, also func()) {
	u.once.Do(func() {
		u.exit = e
		close(u.over)
		also()
	})
}

// Signal implements proc.Process.
func (u *unsignalled) Signal(proc.Signal) error {
	u.end(proc.Exit{Code: 143}, func() {
		for _, r := range []io.Reader{u.Stdout(), u.Stderr()} {
			if c, ok := r.(io.Closer); ok {
				_ = c.Close()
			}
		}
	})
	return nil
}

// Wait implements proc.Process.
func (u *unsignalled) Wait() proc.Exit {
	<-u.over
	return u.exit
}

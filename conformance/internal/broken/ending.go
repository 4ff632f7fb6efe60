package broken

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
)

// endings are broken in how they end a runtime, or in what they make of what
// comes in another order or is not known.
func endings() []Adapter {
	return []Adapter{
		{
			Name: "kills-at-once", Sentence: "kills the runtime when it is closed",
			Fails: []string{"permission.answered-once", "process.gentle", "turn.not-before-end"},
			Only:  map[string]string{"turn.not-before-end": "codex"}, // Claude Code tells of a killed turn what it tells of a stopped one
			mutation: mutation{closing: func(p proc.Process) {
				_ = p.Signal(proc.SIGKILL)
				time.Sleep(time.Millisecond) // of the play: whether the end or the close is noticed first is no chance
			}},
		},
		{
			Name: "leaves-the-runtime", Sentence: "takes its signal for the runtime's end, and does not look whether it has ended",
			Fails: []string{"process.no-orphans"},
			mutation: mutation{launched: func(p proc.Process) proc.Process {
				return unsignal(p)
			}},
		},
		{
			Name: "pairs-by-order", Sentence: "gives each result to the tool that began first",
			Fails: []string{"time.no-added-delay", "tool.interrupted", "tool.output", "tool.paired", "tool.parallel", "tool.streamed", "turn.crash-ends"},
			Only:  map[string]string{"tool.streamed": "codex", "turn.crash-ends": "codex"}, // Codex streams output, and tells its tools one by one
			mutation: mutation{events: func() func(event.Event, func(event.Event)) {
				var open []string
				return func(e event.Event, out func(event.Event)) {
					switch d := e.Data.(type) {
					case event.ToolStart:
						open = append(open, d.ToolUseID)
					case event.ToolResult:
						if len(open) > 0 {
							d.ToolUseID, open = open[0], open[1:]
						}
						e.Data = d
					}
					out(e)
				}
			}},
		},
		{
			Name: "takes-a-lost-end-for-a-good-one", Sentence: "tells a turn whose end never came as one that went well",
			Fails: []string{"turn.lost-end"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				err, failed := e.Data.(event.Error)
				if done, is := e.Data.(event.Done); failed && err.Code == event.ErrorProtocol && e.Turn > 0 || is && done.Reason == "superseded" {
					e.Data = event.Done{}
				}
				out(e)
			}),
		},
		{
			Name: "refuses-in-silence", Sentence: "refuses a request that it does not know, and tells nobody",
			Fails: []string{"permission.unsupported-request"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Notice); !ok || !bytes.Contains(d.Raw, []byte("weather_ask")) && !bytes.Contains(d.Raw, []byte("requestOutlook")) {
					out(e)
				}
			}),
		},
		{
			Name: "loses-the-reason", Sentence: "says that a session cannot be opened, and not why",
			Fails: []string{"process.start-failure", "session.resume-unknown"},
			mutation: mutation{failed: func(err error) error {
				var typed *adapters.OpenError
				if errors.As(err, &typed) && typed.Code != event.ErrorStartFailure {
					return &adapters.OpenError{Code: typed.Code, Op: typed.Op, Err: errors.New("it did not work")}
				}
				return err
			}},
		},
		{
			Name: "answers-what-it-knows", Sentence: "leaves a request that it does not know without a reply",
			Fails: []string{"permission.unsupported-request"},
			mutation: mutation{written: func(line []byte, w io.Writer) error {
				if bytes.Contains(line, []byte(`"weather-`)) {
					return nil
				}
				_, err := w.Write(line)
				return err
			}},
		},
	}
}

// unsignalled is a process that no signal reaches, and that looks as if one had.
// What comes first, its end or a signal, is what all that wait for it hear.
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

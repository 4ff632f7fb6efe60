package relay

import (
	"fmt"
	"net"
	"os"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/internal/signals"
)

// The variables that make a program a stand-in. A Post's own script sets them, so that a
// client may start its runtime with any environment.
const (
	envSocket = "TURNSPEC_RELAY"
	envName   = "TURNSPEC_RELAY_NAME"
)

// ready reports that this program has called Main, so that it may be started as a stand-in.
var ready bool

// signalGrace is how long a stand-in waits after a signal for the play to end it. The play may
// still have more to write than the client reads.
const signalGrace = 2 * time.Second

// Main runs the stand-in if this program was started as one. A program that makes a Post
// calls it first, because the stand-in is that program.
func Main() (handled bool, code int) {
	ready = true
	socket := os.Getenv(envSocket)
	if socket == "" {
		return false, 0
	}
	name := os.Getenv(envName)
	_ = os.Unsetenv(envSocket) // a child of the runtime is no stand-in
	_ = os.Unsetenv(envName)
	end, err := runStandIn(socket, name)
	if err != nil {
		fmt.Fprintf(os.Stderr, "turnspec: the stand-in of %s has lost the suite that plays it: %v\n", name, err)
		return true, 2
	}
	if end.Signal != "" {
		signals.EndBy(proc.Signal(end.Signal))
	}
	return true, end.Code
}

func runStandIn(socket, name string) (ending, error) {
	conn, err := net.Dial("unix", socket) //nolint:gosec // the address is from the suite that started this program
	if err != nil {
		return ending{}, err
	}
	defer func() { _ = conn.Close() }()
	w := newFrames(conn)
	dir, _ := os.Getwd() // without one the placeholder stays
	b, err := json.Marshal(hello{Argv: append([]string{name}, os.Args[1:]...), Env: os.Environ(), Dir: dir})
	if err != nil {
		return ending{}, err
	}
	sent, stop := signals.Notify()
	defer stop()
	if err := w.writeFrame(kindHello, b); err != nil {
		return ending{}, err
	}
	go func() {
		for s := range sent {
			if w.writeFrame(kindSignal, []byte(s)) != nil {
				return
			}
			go func() {
				time.Sleep(signalGrace)
				signals.EndBy(s)
			}()
		}
	}()
	stdin := closableStdin()
	go func() {
		_ = w.copyFrom(stdin, kindStdin)
		_ = w.writeFrame(kindShut, nil)
	}()
	for {
		k, b, err := w.readFrame()
		if err != nil {
			return ending{}, err
		}
		switch k {
		case kindStdout:
			if _, err := os.Stdout.Write(b); err != nil {
				return ending{Code: 1}, nil // its client is gone: SIGPIPE would end it
			}
		case kindStderr:
			_, _ = os.Stderr.Write(b)
		case kindMute:
			_ = os.Stdout.Close()
		case kindDeaf:
			_ = stdin.Close()
		case kindExit:
			var e ending
			err := json.Unmarshal(b, &e)
			return e, err
		}
	}
}

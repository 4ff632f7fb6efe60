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

// The variables by which a program knows that it is a stand-in. A Post's own
// script sets them, so that a client may start its runtime with any environment.
const (
	envSocket = "TURNSPEC_RELAY"
	envName   = "TURNSPEC_RELAY_NAME"
)

// ready says that this program has called Main, so that it may be started as a
// stand-in.
var ready bool

// signalGrace is how long a stand-in that was sent a signal waits for the play
// to say how the runtime ends by it: what it still has to write may be more than
// its client reads.
const signalGrace = 2 * time.Second

// Main is the stand-in when this program was started as one. A program that
// makes a Post calls it first, since the stand-in is that program.
func Main() (handled bool, code int) {
	ready = true
	socket := os.Getenv(envSocket)
	if socket == "" {
		return false, 0
	}
	name := os.Getenv(envName)
	_ = os.Unsetenv(envSocket) // what a runtime starts is no stand-in
	_ = os.Unsetenv(envName)
	end, err := speak(socket, name)
	if err != nil {
		fmt.Fprintf(os.Stderr, "turnspec: the stand-in of %s has lost the suite that plays it: %v\n", name, err)
		return true, 2
	}
	if end.Signal != "" {
		signals.EndBy(proc.Signal(end.Signal))
	}
	return true, end.Code
}

func speak(socket, name string) (ending, error) {
	conn, err := net.Dial("unix", socket) //nolint:gosec // the suite that started this program names it
	if err != nil {
		return ending{}, err
	}
	defer func() { _ = conn.Close() }()
	w := newWire(conn)
	dir, _ := os.Getwd() // without one the play knows no place
	b, err := json.Marshal(hello{Argv: append([]string{name}, os.Args[1:]...), Env: os.Environ(), Dir: dir})
	if err != nil {
		return ending{}, err
	}
	sent, stop := signals.Notify()
	defer stop()
	if err := w.write(kindHello, b); err != nil {
		return ending{}, err
	}
	go func() {
		for s := range sent {
			if w.write(kindSignal, []byte(s)) != nil {
				return
			}
			go func() {
				time.Sleep(signalGrace)
				signals.EndBy(s)
			}()
		}
	}()
	go func() {
		_ = w.copyFrom(os.Stdin, kindStdin)
		_ = w.write(kindShut, nil)
	}()
	for {
		k, b, err := w.read()
		if err != nil {
			return ending{}, err
		}
		switch k {
		case kindStdout:
			if _, err := os.Stdout.Write(b); err != nil {
				return ending{Code: 1}, nil // its client is gone, as SIGPIPE would say
			}
		case kindStderr:
			_, _ = os.Stderr.Write(b)
		case kindExit:
			var e ending
			err := json.Unmarshal(b, &e)
			return e, err
		}
	}
}

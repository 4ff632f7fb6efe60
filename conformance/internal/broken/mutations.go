package broken

import (
	"bufio"
	"io"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// Each returns a mutation that handles one event at a time and keeps no state.
func Each(f func(e event.Event, out func(event.Event))) Mutation {
	return Mutation{Events: func() func(event.Event, func(event.Event)) { return f }}
}

// Change returns a mutation of the data of each event of one type.
func Change[D event.Data](f func(d *D)) Mutation {
	return Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(D); ok {
			f(&d)
			e.Data = d
		}
		out(e)
	})
}

// EachFileChange returns a mutation of every change of a file.
func EachFileChange(f func(c *event.FileChange)) Mutation {
	return Change(func(d *event.ToolResult) {
		d.Changes = slices.Clone(d.Changes)
		for i := range d.Changes {
			f(&d.Changes[i])
		}
	})
}

// Opening returns a mutation of the options that a session is opened with.
func Opening(f func(o *conformance.Open)) Mutation { return Mutation{Open: f} }

// Servers returns a mutation of each MCP server that a session is opened with.
func Servers(f func(x *adapters.MCPServer)) Mutation {
	return Opening(func(o *conformance.Open) {
		o.MCP = slices.Clone(o.MCP)
		for i := range o.MCP {
			f(&o.MCP[i])
		}
	})
}

// Written returns a mutation of each line that the adapter writes.
func Written(f func(line []byte) []byte) Mutation {
	return Mutation{Write: func(line []byte, w io.Writer) error {
		_, err := w.Write(f(line))
		return err
	}}
}

// EachLine returns the lines of r as f changes them.
func EachLine(r io.Reader, f func(line []byte) []byte) io.Reader {
	in, rest := bufio.NewReader(r), []byte(nil)
	return ReaderFunc(func(b []byte) (int, error) {
		if len(rest) == 0 {
			line, err := in.ReadBytes('\n')
			if len(line) == 0 {
				return 0, err
			}
			rest = f(line)
		}
		n := copy(b, rest)
		rest = rest[n:]
		return n, nil
	})
}

// ReaderFunc is an io.Reader of one function.
type ReaderFunc func([]byte) (int, error)

// Read implements io.Reader.
func (f ReaderFunc) Read(b []byte) (int, error) { return f(b) }

// forwardEvents forwards events, and blocks while the listener receives none. It closes
// passed when the listener has received all of them.
func forwardEvents(in <-chan event.Event) (out chan event.Event, passed chan struct{}) {
	out, passed = make(chan event.Event), make(chan struct{})
	go func() {
		defer close(passed)
		defer close(out)
		for e := range in {
			out <- e
		}
	}()
	return out, passed
}

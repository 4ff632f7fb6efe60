package fault

import (
	"bytes"
	"os/exec"
	"slices"
	"time"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// clientTimeout is shorter than the limits of adapters, and longer than a runtime
// takes for any reply.
const clientTimeout = 10 * time.Second

// SilentStartText is what a process writes on stderr under no-handshake.
const SilentStartText = "fault: nothing will come"

// noHandshake is a process that never writes anything on stdout.
func noHandshake() Operator {
	return Operator{
		Name: "no-handshake", Kind: Terminal, Doc: "The first process writes nothing but a line on stderr, and ends only by a signal.",
		places: func(c *lines, _ bool) []int { return c.firstOutput() },
		apply:  silentStart(Fault{CutsLine: true}),
	}
}

func (c *lines) firstOutput() []int {
	if c.rt.Process.Message != nil || c.rt.ClientRunsTurns {
		return nil // it is started by a message or ready at once, and has no handshake
	}
	if all := c.outputs(); len(all) > 0 && c.wire[all[0]].Process == 1 {
		return all[:1]
	}
	return nil
}

func silentStart(f Fault) func(c *lines, place int) Fault {
	return func(c *lines, place int) Fault {
		return at(c, place, f, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
			x := lines[i]
			x.Dir, x.Bytes = fixtures.Err, []byte(SilentStartText)
			return append(slices.Clone(lines[:i]), x)
		})
	}
}

// noHandshakeInTime is no-handshake for a client that does not wait so long.
func noHandshakeInTime() Operator {
	return Operator{
		Name: "no-handshake-in-time", Kind: Terminal, Selective: true,
		Doc: "The first process writes nothing but a line on stderr, and the client's context ends before its limits do.",
		places: func(c *lines, named bool) []int {
			if !named {
				return nil
			}
			return c.firstOutput()
		},
		apply: silentStart(Fault{CutsLine: true, ClientTimeout: clientTimeout}),
	}
}

// noProgram is a program that does not exist.
func noProgram() Operator {
	return Operator{
		Name: "no-program", Kind: Terminal, Selective: true, Doc: "The runtime's program cannot be started because it does not exist.",
		places: func(_ *lines, named bool) []int {
			if !named {
				return nil
			}
			return []int{0}
		},
		apply: func(c *lines, _ int) Fault {
			return Fault{CutsLine: true, StartError: &exec.Error{Name: c.runtime, Err: exec.ErrNotFound}}
		},
	}
}

// refusable returns the request that a line answers successfully, if a call of the
// adapter's user waits for the reply, and the line of the case's file that it is; else
// nil.
func (c *lines) refusable(i int) (q *wire.Line, line int) {
	l := &c.read[i]
	if l.Kind != wire.Reply || l.Failed || c.rt.Unknown.Refusal == nil {
		return nil, 0
	}
	for k := i - 1; k >= 0; k-- {
		w, q := c.wire[k], &c.read[k]
		if w.Dir != fixtures.In || w.Process != c.wire[i].Process || q.ID == nil || !bytes.Equal(q.ID, l.RepliesTo) {
			continue
		}
		if q.Step.Awaited {
			return q, w.Line
		}
		return nil, 0
	}
	return nil, 0
}

// errorReply refuses a request, and the runtime writes nothing more until stdin is
// closed.
func errorReply() Operator {
	return refusal("error-reply", "A request gets an error as its reply, and has no effect.", Fault{CutsLine: true},
		func(c *lines, q *wire.Line) []byte { return c.rt.Unknown.Refusal(q, refusedBy) })
}

// replyWithoutID is errorReply with a reply that leaves out the id of its request.
func replyWithoutID() Operator {
	return refusal("reply-without-id", "A request gets an error as its reply, in which its id is missing.", Fault{CutsLine: true, ClientTimeout: clientTimeout},
		func(c *lines, q *wire.Line) []byte {
			if c.rt.Unknown.RefusalWithoutID == nil {
				return nil
			}
			return c.rt.Unknown.RefusalWithoutID(c.version, q, refusedBy)
		})
}

const refusedBy = "the fault refuses"

// refusal replies to a request with an error. There is none if reply returns nil.
func refusal(name, doc string, f Fault, reply func(c *lines, request *wire.Line) []byte) Operator {
	return Operator{
		Name: name, Kind: Terminal, Doc: doc,
		places: func(c *lines, _ bool) []int {
			return c.outputsWhere(func(i int) bool {
				q, _ := c.refusable(i)
				return q != nil && reply(c, q) != nil
			})
		},
		apply: func(c *lines, place int) Fault {
			q, line := c.refusable(place)
			f.Refuses = line
			return at(c, place, f, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				refused := lines[i]
				refused.Bytes = reply(c, q)
				out := append(slices.Clone(lines[:i]), refused)
				for _, w := range lines[i+1:] {
					if w.Dir == fixtures.EOF || w.Dir == fixtures.Exit {
						out = append(out, w)
					}
				}
				return out
			})
		},
	}
}

// noReply lets a call wait for a reply that never comes. Its place is the line
// before.
func noReply() Operator {
	return Operator{
		Name: "no-reply", Kind: Terminal, Selective: true,
		Doc: "A request of the client gets no reply, nor does anything else come, and the context of the call ends before the limits do. Requests that every session makes: in selected scenarios.",
		places: func(c *lines, named bool) []int {
			return c.placesBefore(func(i int) bool {
				q, _ := c.refusable(i)
				return q != nil && (named || !q.Step.Handshake && !q.Step.NewSession && q.Kind != wire.Send)
			})
		},
		apply: cutAfter(Fault{Hangs: true, ClientTimeout: clientTimeout}),
	}
}

// listenerGone is a client that takes no more events and closes the session. At the
// second place it waits for Close only for a while.
func listenerGone() Operator {
	return Operator{
		Name: "nobody-listens", Kind: Transparent, Selective: true,
		Doc:    "After a line of stdout the client takes no event any more, until the session was closed.",
		places: middleAndLast,
		apply: func(c *lines, place int) Fault {
			f := Fault{ListenerBlocked: true}
			if place != middleAndLast(c, true)[0] {
				f.ClientTimeout = clientTimeout
			}
			return at(c, place, f, func(lines []fixtures.WireLine, _ int) []fixtures.WireLine { return lines })
		},
	}
}

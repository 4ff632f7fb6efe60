package fault

import (
	"os/exec"
	"slices"
	"time"

	"github.com/turnspec/turnspec/fixtures"
)

// patience is shorter than the limits of adapters, and longer than a runtime
// takes for any reply.
const patience = 10 * time.Second

// impatient is no-handshake for a client that does not wait so long.
func impatient() Operator {
	const name = "no-handshake-in-time"
	return Operator{
		Name: name, Kind: Terminal, Doc: "The first process says nothing but a line on stderr, and the client's context ends before its limits do, on the cases of " + Plainest + ".",
		Places: func(c *fixtures.Case) []int {
			if c.Scenario != Plainest {
				return nil
			}
			return noHandshake().Places(c)
		},
		Apply: func(c *fixtures.Case, place int) Fault {
			h := noHandshake().Apply(c, place)
			h.Operator, h.ClientTimeout = name, patience
			return h
		},
	}
}

// absent is a program that is not there.
func absent() Operator {
	const name = "no-program"
	return Operator{
		Name: name, Kind: Terminal, Doc: "The runtime's program cannot be started: there is none, on the cases of " + Plainest + ".",
		Places: func(c *fixtures.Case) []int {
			if c.Scenario != Plainest {
				return nil
			}
			return []int{0}
		},
		Apply: func(c *fixtures.Case, place int) Fault {
			return Fault{Operator: name, Kind: Terminal, Place: place, CutsLine: true, StartError: &exec.Error{Name: c.Runtime, Err: exec.ErrNotFound}}
		},
	}
}

// usual are the requests that every session makes.
var usual = []string{"initialize", "thread/start", "turn/start"}

// unanswered lets an act wait for a reply that never comes. Its place is the line
// before: what is said until then is known.
func unanswered() Operator {
	const name = "no-reply"
	return Operator{
		Name: name, Kind: Terminal, Doc: "A request of the client gets no reply, nor does anything else come, and the context of the act ends before the limits do; those of each session on the cases of " + Plainest + " alone.",
		Places: func(c *fixtures.Case) []int {
			var places []int
			last := map[int]int{} // of each process, the line of stdout before
			for _, i := range outputs(c) {
				before, ok := last[c.Wire[i].Process]
				if method, _ := refused(c, i); ok && method != "" && (c.Scenario == Plainest || !slices.Contains(usual, method)) {
					places = append(places, before)
				}
				last[c.Wire[i].Process] = i
			}
			return places
		},
		Apply: func(c *fixtures.Case, place int) Fault {
			h := Fault{Operator: name, Kind: Terminal, Hangs: true, ClientTimeout: patience}
			return at(c, place, h, func(lines []fixtures.WireLine, i int) []fixtures.WireLine { return slices.Clone(lines[:i+1]) })
		},
	}
}

// nobodyListens is a client that has gone away, and closes the session: at the
// second place it waits so long for that and no longer.
func nobodyListens() Operator {
	const name = "nobody-listens"
	places := func(c *fixtures.Case) []int {
		all := messages(c)
		if c.Scenario != Plainest || len(all) < 2 {
			return nil
		}
		return []int{all[len(all)/2], all[len(all)-1]}
	}
	return Operator{
		Name: name, Kind: Transparent, Doc: "After a line of stdout nobody takes an event any more, until the session was closed, on the cases of " + Plainest + ".",
		Places: places,
		Apply: func(c *fixtures.Case, place int) Fault {
			h := Fault{Operator: name, Kind: Transparent, ListenerBlocked: true}
			if place != places(c)[0] {
				h.ClientTimeout = patience
			}
			return at(c, place, h, func(lines []fixtures.WireLine, _ int) []fixtures.WireLine { return lines })
		},
	}
}

package fault

import (
	"fmt"
	"slices"
	"time"

	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// kill ends the process after a line of stdout.
func kill() Operator {
	return endAfter("kill", "The process is killed after a line of stdout.", fixtures.WireLine{Code: -1, Signal: "SIGKILL"}, false)
}

// exitWithoutNewline ends the process as if there were no error.
func exitWithoutNewline() Operator {
	return endAfter("exit-without-newline", "The process exits with code 0 after a line of stdout, which has no line end.", fixtures.WireLine{}, true)
}

// exit ends the process with an error.
func exit() Operator {
	return endAfter("exit", "The process exits with code 3 after a line of stdout.", fixtures.WireLine{Code: 3}, false)
}

func endAfter(name, doc string, end fixtures.WireLine, noNewline bool) Operator {
	end.Dir = fixtures.Exit
	return endWith(name, doc, end, Fault{NoLastNewline: noNewline})
}

// endWith puts one last line after a line of stdout, and leaves out the others.
func endWith(name, doc string, end fixtures.WireLine, f Fault) Operator {
	return Operator{
		Name: name, Kind: Terminal, Doc: doc, places: whileNeeded,
		apply: func(c *lines, place int) Fault {
			return at(c, place, f, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				x := end
				x.T, x.Line, x.Process = lines[i].T, lines[i].Line, lines[i].Process
				return append(slices.Clone(lines[:i+1]), x)
			})
		},
	}
}

// whileNeeded are the lines of stdout after which the process has more to do: one that takes a
// single message ends by itself after its turn.
func whileNeeded(c *lines, _ bool) []int {
	return c.outputsWhere(func(i int) bool { return c.rt.Process.Message == nil || c.read[i].Kind != wire.TurnEnd })
}

// cutLine kills the process within a line.
func cutLine() Operator {
	return Operator{
		Name: "cut-line", Kind: Terminal, Doc: "The process is killed within a line of stdout.", places: allOutputs,
		apply: func(c *lines, place int) Fault {
			f := Fault{NoLastNewline: true, CutsLine: true, NoticeAllowed: true}
			return at(c, place, f, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				half, x := lines[i], fixtures.WireLine{Code: -1, Signal: "SIGKILL", Dir: fixtures.Exit}
				half.Bytes = half.Bytes[:max(1, len(half.Bytes)/2)]
				x.T, x.Line, x.Process = half.T, half.Line, half.Process
				return append(slices.Clone(lines[:i]), half, x)
			})
		},
	}
}

// closeStdout ends the output of the process, and not the process.
func closeStdout() Operator {
	return endWith("close-stdout", "After a line of stdout the process closes it, and lives on until a signal.",
		fixtures.WireLine{Dir: standin.Hangup}, Fault{})
}

// closeStdin ends the input of the process, and its output.
func closeStdin() Operator {
	return endWith("close-stdin", "After a line of stdout the process closes its stdin and writes nothing more, and lives on until a signal.",
		fixtures.WireLine{Dir: standin.CloseStdin}, Fault{Hangs: true})
}

// stall leaves the process running. It reads and writes nothing, and does not end
// when its stdin is closed.
func stall() Operator {
	return Operator{
		Name: "stall", Kind: Terminal, Doc: "After a line of stdout the process writes nothing more, and ends only by a signal.",
		places: allOutputs, apply: cutAfter(Fault{Hangs: true}),
	}
}

// endless-retries adds this many attempts, one every attemptInterval, which take
// EndlessRetriesLength. A subject may give up after some attempts or some minutes.
const (
	endlessAttempts      = 64
	attemptInterval      = 30 * time.Second
	EndlessRetriesLength = endlessAttempts * attemptInterval
)

// endlessRetries repeats the announcement of another request to the model. It is for versions
// of a runtime that do so without a limit of their own.
func endlessRetries() Operator {
	return Operator{
		Name: "endless-retries", Kind: Terminal,
		Doc: fmt.Sprintf("The model fails again and again: the runtime announces another request %d times more, every %v. Then it writes nothing.", endlessAttempts, attemptInterval),
		places: func(c *lines, _ bool) []int {
			return c.outputsWhere(func(i int) bool {
				return c.read[i].RetriesForever && !c.inStoppedTurn(i)
			})
		},
		apply: func(c *lines, place int) Fault {
			return at(c, place, Fault{Hangs: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				out := slices.Clone(lines[:i+1])
				for n := range endlessAttempts {
					again := lines[i]
					again.T += time.Duration(n+1) * attemptInterval
					out = append(out, again)
				}
				return out
			})
		},
	}
}

// ignoreSIGTERM is a stall that SIGTERM does not end.
func ignoreSIGTERM() Operator {
	return Operator{
		Name: "no-end-by-term", Kind: Terminal, Selective: true,
		Doc: "After a line of stdout the process writes nothing more, and ends only by SIGKILL.",
		places: func(c *lines, named bool) []int {
			if all := c.outputs(); named && len(all) > 1 {
				return []int{all[0], all[len(all)/2]}
			}
			return nil
		},
		apply: cutAfter(Fault{Hangs: true, IgnoresSIGTERM: true}),
	}
}

// stopIgnored is a stall that begins where the client stops the turn: no limit of the runtime's
// silence helps a client that waits while a tool or a question is open.
func stopIgnored() Operator {
	return Operator{
		Name: "stop-ignored", Kind: Terminal,
		Doc: "The runtime ignores the interrupt, and writes nothing more. The process ends only by a signal.",
		places: func(c *lines, _ bool) []int {
			var places []int
			last := map[int]int{} // the last line of stdout, by process
			for i, w := range c.wire {
				switch w.Dir {
				case fixtures.Out:
					last[w.Process] = i
				case fixtures.In:
					before, ok := last[w.Process]
					if ok && c.read[i].Kind == wire.Stop && !slices.Contains(places, before) {
						places = append(places, before)
					}
				}
			}
			return places
		},
		apply: cutAfter(Fault{Hangs: true}),
	}
}

// placesBefore are the lines of stdout before those for which keep holds, in the same
// process: the events until then are known.
func (c *lines) placesBefore(keep func(i int) bool) []int {
	var places []int
	last := map[int]int{} // by process
	for _, i := range c.outputs() {
		n := c.wire[i].Process
		if before, ok := last[n]; ok && keep(i) {
			places = append(places, before)
		}
		last[n] = i
	}
	return places
}

// missingEnd leaves out the end of a turn and all that follows. Its place is the line
// before.
func missingEnd() Operator {
	return Operator{
		Name: "missing-end", Kind: Terminal, Doc: "The end of a turn never comes, nor anything else. The process ends only by a signal.",
		places: func(c *lines, _ bool) []int {
			return c.placesBefore(func(i int) bool { return c.read[i].Kind == wire.TurnEnd })
		},
		apply: cutAfter(Fault{Hangs: true}),
	}
}

// lostEnd leaves out the end of a turn, and nothing else: the runtime goes on, reports
// that it is done with the message if its wire can, and begins the next turn. Its
// place is the line before.
func lostEnd() Operator {
	return Operator{
		Name: "lost-end", Kind: Terminal, Selective: true,
		Doc: "The end of a turn never comes, and the next turn begins; or, in selected scenarios, the runtime reports that it is done with the message.",
		places: func(c *lines, named bool) []int {
			var places []int
			ended := map[thread]int{} // of turns in which the model wrote, the line before the end
			wrote := map[thread]bool{}
			last := map[int]int{} // by process
			for _, i := range c.outputs() {
				n, k, m := c.wire[i].Process, c.ofSession(i), c.markOf(i)
				before, ok := last[n]
				switch last[n] = i; {
				case m.part != ofNone && m.thread != c.sessions[i]: // of another agent
				case m.part == ofEnd:
					if ok && wrote[k] {
						ended[k] = before
					}
					wrote[k] = false
				case m.part == ofDelta, m.part == ofItem:
					wrote[k] = true
				case m.part == ofBegin, named && c.read[i].Kind == wire.MessageState:
					if at, ok := ended[k]; ok {
						places = append(places, at)
						delete(ended, k)
					}
				}
			}
			return places
		},
		apply: func(c *lines, place int) Fault {
			return at(c, place, Fault{}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				for i++; lines[i].Dir != fixtures.Out || c.rt.ReadOutput(lines[i].Bytes).Kind != wire.TurnEnd; i++ {
				}
				return slices.Delete(slices.Clone(lines), i, i+1)
			})
		},
	}
}

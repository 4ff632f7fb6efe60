package fault

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// cutLine kills the process amid a line.
func cutLine() Operator {
	const name = "cut-line"
	return Operator{
		Name: name, Kind: Terminal, Doc: "The process is killed amid a line of stdout.", Places: outputs,
		Apply: func(c *fixtures.Case, place int) Fault {
			h := Fault{Operator: name, Kind: Terminal, NoLastNewline: true, CutsLine: true, NoticeAllowed: true}
			return at(c, place, h, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				half, x := lines[i], fixtures.WireLine{Code: -1, Signal: "SIGKILL", Dir: fixtures.Exit}
				half.Bytes = half.Bytes[:max(1, len(half.Bytes)/2)]
				x.T, x.Line, x.Process = half.T, half.Line, half.Process
				return append(slices.Clone(lines[:i]), half, x)
			})
		},
	}
}

// closeStdout ends what the process says, and not the process.
func closeStdout() Operator {
	const name = "close-stdout"
	return Operator{
		Name: name, Kind: Terminal, Doc: "After a line of stdout the process closes it, and lives on until a signal.", Places: outputs,
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Terminal}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				x := lines[i]
				x.Dir, x.Bytes = standin.Hangup, nil
				return append(slices.Clone(lines[:i+1]), x)
			})
		},
	}
}

// closeStdin ends what the process hears, and what it says.
func closeStdin() Operator {
	const name = "close-stdin"
	return Operator{
		Name: name, Kind: Terminal, Doc: "After a line of stdout the process closes its stdin and says nothing more, and lives on until a signal.", Places: outputs,
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Terminal, Hangs: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				x := lines[i]
				x.Dir, x.Bytes = standin.CloseStdin, nil
				return append(slices.Clone(lines[:i+1]), x)
			})
		},
	}
}

// stubborn is a stall that SIGTERM does not end.
func stubborn() Operator {
	const name = "no-end-by-term"
	return Operator{
		Name: name, Kind: Terminal, Doc: "After a line of stdout the process says nothing more, and ends by SIGKILL alone, on the cases of " + Plainest + ".",
		Places: func(c *fixtures.Case) []int {
			if all := outputs(c); c.Scenario == Plainest && len(all) > 1 {
				return []int{all[0], all[len(all)/2]}
			}
			return nil
		},
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Terminal, Hangs: true, IgnoresSIGTERM: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				return slices.Clone(lines[:i+1])
			})
		},
	}
}

// missingEnd leaves out the end of a turn. Its place is the line before: what is
// said until then is known.
func missingEnd() Operator {
	const name = "missing-end"
	return Operator{
		Name: name, Kind: Terminal, Doc: "The end of a turn never comes, nor anything else: the process ends only by a signal.",
		Places: func(c *fixtures.Case) []int {
			var places []int
			last := map[int]int{} // of each process, the line of stdout before
			for _, i := range outputs(c) {
				f, n := frameOf(c.Wire[i].Bytes), c.Wire[i].Process
				before, ok := last[n]
				if ok && (f.Method == "turn/completed" || f.Type == "result") {
					places = append(places, before)
				}
				last[n] = i
			}
			return places
		},
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Terminal, Hangs: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				return slices.Clone(lines[:i+1])
			})
		},
	}
}

// lostEnd leaves out the end of a turn, and nothing else: the runtime lives, says
// that it is done with the message where it has words for that, and begins the
// next turn. Its place is the line before.
func lostEnd() Operator {
	const name = "lost-end"
	return Operator{
		Name: name, Kind: Terminal, Doc: "The end of a turn never comes, and the next turn begins; or the runtime says, on the cases of " + Plainest + ", that it is done with the message.",
		Places: func(c *fixtures.Case) []int {
			var places []int
			type thread struct {
				process int
				id      string
			}
			ended := map[thread]int{} // of turns in which the model spoke, the line before the end
			speaks := map[thread]bool{}
			last := map[int]int{}
			sessions := sessionIDs(c)
			for _, i := range outputs(c) {
				n := c.Wire[i].Process
				m := markOf(c.Wire[i].Bytes)
				k := thread{n, sessions[i]}
				before, spoke := last[n]
				switch last[n] = i; {
				case m.part != ofNone && m.thread != sessions[i]: // of another agent
				case m.part == ofEnd:
					if spoke && speaks[k] {
						ended[k] = before
					}
					speaks[k] = false
				case m.part == ofDelta, m.part == ofItem:
					speaks[k] = true
				case m.part == ofBegin, c.Scenario == Plainest && isLifecycle(c.Wire[i].Bytes):
					if at, ok := ended[k]; ok {
						places = append(places, at)
						delete(ended, k)
					}
				}
			}
			return places
		},
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Terminal}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				for i++; markOf(lines[i].Bytes).part != ofEnd; i++ {
				}
				return slices.Delete(slices.Clone(lines), i, i+1)
			})
		},
	}
}

func isLifecycle(line []byte) bool {
	return bytes.Contains(line, []byte(`"type":"command_lifecycle"`))
}

// Complaint is what a process says on stderr that never says anything else.
const UnknownMessageText = "fault: nothing will come"

// noHandshake is a process that never says anything on stdout.
func noHandshake() Operator {
	const name = "no-handshake"
	return Operator{
		Name: name, Kind: Terminal, Doc: "The first process says nothing but a line on stderr, and ends only by a signal.",
		Places: func(c *fixtures.Case) []int {
			if all := outputs(c); len(all) > 0 && c.Wire[all[0]].Process == 1 {
				return all[:1]
			}
			return nil
		},
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Terminal, CutsLine: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				x := lines[i]
				x.Dir, x.Bytes = fixtures.Err, []byte(UnknownMessageText)
				return append(slices.Clone(lines[:i]), x)
			})
		},
	}
}

// refusable are the requests that a user's act waits for.
var refusable = []string{
	"initialize", "thread/start", "thread/resume", "thread/fork", "turn/start", "turn/steer", "turn/interrupt",
	"interrupt", "set_model", "set_permission_mode",
}

// errorReply refuses a request, and says nothing more until stdin is closed.
func errorReply() Operator {
	const name = "error-reply"
	return Operator{
		Name: name, Kind: Terminal, Doc: "A request gets an error for a reply, and nothing comes of it.",
		Places: func(c *fixtures.Case) []int {
			return slices.DeleteFunc(outputs(c), func(i int) bool { return refusal(c, i) == "" })
		},
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Terminal, CutsLine: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				reply := lines[i]
				reply.Bytes = []byte(refusal(c, place))
				out := append(slices.Clone(lines[:i]), reply)
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

// refusal is the error reply in place of a successful one, or "".
func refusal(c *fixtures.Case, place int) string {
	_, reply := refused(c, place)
	return reply
}

// refused is what was asked, and refusal.
func refused(c *fixtures.Case, place int) (method, reply string) {
	w := c.Wire[place]
	f := frameOf(w.Bytes)
	for i := place - 1; i >= 0; i-- {
		in := c.Wire[i]
		if in.Dir != fixtures.In || in.Process != w.Process {
			continue
		}
		q := frameOf(in.Bytes)
		switch {
		case f.Method == "" && f.Result != nil && q.ID != nil && bytes.Equal(q.ID, f.ID):
			if slices.Contains(refusable, q.Method) {
				return q.Method, fmt.Sprintf(`{"id":%s,"error":{"code":-32603,"message":"the fault refuses"}}`, f.ID)
			}
			return "", ""
		case f.Type == "control_response" && f.Response.Subtype == "success" && q.RequestID != "" && q.RequestID == f.Response.RequestID:
			if slices.Contains(refusable, q.Request.Subtype) {
				return q.Request.Subtype, fmt.Sprintf(`{"type":"control_response","response":{"subtype":"error","request_id":%q,"error":"the fault refuses"}}`, q.RequestID)
			}
			return "", ""
		}
	}
	return "", ""
}

package fault

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// insert puts a line of stdout after the i-th line.
func insert[T string | []byte](lines []fixtures.WireLine, i int, text T) []fixtures.WireLine {
	w := lines[i]
	return inserted(lines, i+1, fixtures.WireLine{T: w.T, Process: w.Process, Dir: fixtures.Out, Bytes: []byte(text)})
}

// inserted is slices.Insert for lines that are not to be changed.
func inserted(lines []fixtures.WireLine, i int, w fixtures.WireLine) []fixtures.WireLine {
	out := make([]fixtures.WireLine, 0, len(lines)+1)
	return append(append(append(out, lines[:i]...), w), lines[i:]...)
}

// unknownMessage adds a message of a type that no version has. Ids of the
// session make it plausible: a client that looks at ids first finds its own.
func unknownMessage() Operator {
	const name = "unknown-message"
	return Operator{
		Name: name, Kind: Noticed, Doc: "After a line of stdout comes a message of an unknown type.",
		Places: outputs,
		Apply: func(c *fixtures.Case, place int) Fault {
			session := sessionIDs(c)[place]
			text := fmt.Sprintf(`{"type":"weather_report","outlook":"fair","session_id":%q,"uuid":"0badcafe-0000-4000-8000-%012x"}`, session, place)
			if c.Runtime == "codex" {
				text = fmt.Sprintf(`{"method":"thread/weather/updated","params":{"threadId":%q,"outlook":"fair"},"emittedAtMs":1795235985493}`, session)
			}
			return at(c, place, Fault{Operator: name, Kind: Noticed}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				return insert(lines, i, text)
			})
		},
	}
}

// What unknown-field adds: to a message, and to what it holds.
const (
	unknownMember = `,"weather":{"outlook":"fair"}`
	unknownWithin = `"weather":"fair",`
)

// WithoutUnknown takes out of a text what unknown-field has added: a client may
// pass a message on as it came.
func WithoutUnknown(text string) string {
	text = withoutLong(text)
	if !strings.Contains(text, `"weather":`) {
		return text // the replacer takes its time
	}
	return strings.NewReplacer(unknownMember, "", unknownWithin, "").Replace(text)
}

func unknownFields(_ int, lines []fixtures.WireLine) []fixtures.WireLine {
	lines = slices.Clone(lines)
	for i, w := range lines {
		b, isObject := bytes.CutSuffix(w.Bytes, []byte("}"))
		if w.Dir != fixtures.Out || !isObject || !bytes.HasPrefix(b, []byte(`{"`)) {
			continue
		}
		for _, member := range []string{`"params":{"`, `"item":{"`, `"message":{"`, `"event":{"`, `"request":{"`} {
			open := strings.TrimSuffix(member, `"`)
			b = bytes.Replace(b, []byte(member), []byte(open+unknownWithin+`"`), 1)
		}
		lines[i].Bytes = append(bytes.Clone(b), unknownMember+"}"...)
	}
	return lines
}

// unknownRequest asks what no version asks. Whoever does not answer lets the
// runtime wait.
func unknownRequest() Operator {
	const name = "unknown-request"
	return Operator{
		Name: name, Kind: Noticed, Doc: "After a line of stdout the runtime asks something that no version asks.",
		Places: duringTurns, // a request of codex is of one
		Apply: func(c *fixtures.Case, place int) Fault {
			text := fmt.Sprintf(`{"type":"control_request","request_id":"weather-%d","request":{"subtype":"weather_ask","outlook":"fair"}}`, place)
			if c.Runtime == "codex" {
				text = fmt.Sprintf(`{"id":"weather-%d","method":"item/weather/requestOutlook","params":{"threadId":%q,"turnId":%q,"outlook":"fair"}}`, place, sessionIDs(c)[place], turnIDs(c)[place])
			}
			return at(c, place, Fault{Operator: name, Kind: Noticed}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				return insert(lines, i, text)
			})
		},
	}
}

// duringTurns are the places of lines of stdout: with codex, of those that come
// while a turn of the session runs.
func duringTurns(c *fixtures.Case) []int {
	all := outputs(c)
	if c.Runtime != "codex" {
		return all
	}
	turns := turnIDs(c)
	return slices.DeleteFunc(all, func(i int) bool { return turns[i] == "" })
}

// garbageLine adds a line that is not JSON.
func garbageLine() Operator {
	const name = "garbage-line"
	texts := []string{"npm warn deprecated: use something newer", `{"method":"item/st`, "\x00\x01\xff", "null", "[]", `"text"`}
	return Operator{
		Name: name, Kind: Noticed, Doc: "After a line of stdout comes a line that is no message.",
		Places: outputs,
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Noticed}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				return insert(lines, i, texts[i%len(texts)])
			})
		},
	}
}

// kill ends the process after a line of stdout.
func kill() Operator {
	return ending("kill", "After a line of stdout the process is killed.", fixtures.WireLine{Code: -1, Signal: "SIGKILL"}, false)
}

// exitWithoutNewline ends the process as if all were well.
func exitWithoutNewline() Operator {
	return ending("exit-without-newline", "After a line of stdout, which has no line end, the process exits with code 0.", fixtures.WireLine{}, true)
}

// exit ends the process with an error.
func exit() Operator {
	return ending("exit", "After a line of stdout the process exits with code 3.", fixtures.WireLine{Code: 3}, false)
}

// stall leaves the process running, deaf and dumb: it does not answer, and does
// not end when its stdin is closed.
func stall() Operator {
	const name = "stall"
	return Operator{
		Name: name, Kind: Terminal, Doc: "After a line of stdout the process says nothing more, and ends only by a signal.",
		Places: outputs,
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Terminal, Hangs: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				return slices.Clone(lines[:i+1])
			})
		},
	}
}

// Paused is how long a runtime that thinks says nothing: longer than clients wait
// without a word, and shorter than they wait for one that answers nothing.
const PauseLength = 4*time.Minute + 20*time.Second

// longPause lets the model think amid its words. The runtime lives, and answers
// what it is asked meanwhile.
func longPause() Operator {
	const name = "long-pause"
	return Operator{
		Name: name, Kind: Transparent, Doc: fmt.Sprintf("After a delta nothing comes for %v, and then the rest; what is asked meanwhile is answered.", PauseLength),
		Places: func(c *fixtures.Case) []int {
			lines := outputs(c)
			speaks := func(i int) bool { return standin.TextDelta(c.Runtime, c.Wire[i].Bytes) != "" }
			return slices.DeleteFunc(lines, func(i int) bool {
				return i+1 >= len(c.Wire) || c.Wire[i+1].Dir != fixtures.Out || !speaks(i) || !speaks(i+1)
			})
		},
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Transparent}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				lines = slices.Clone(lines)
				for k := range lines[i+1:] {
					lines[i+1+k].T += PauseLength
				}
				return lines
			})
		},
	}
}

func ending(name, doc string, end fixtures.WireLine, noNewline bool) Operator {
	return Operator{
		Name: name, Kind: Terminal, Doc: doc, Places: outputs,
		Apply: func(c *fixtures.Case, place int) Fault {
			h := Fault{Operator: name, Kind: Terminal, NoLastNewline: noNewline}
			return at(c, place, h, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				x := end
				x.T, x.Line, x.Process, x.Dir = lines[i].T, lines[i].Line, lines[i].Process, fixtures.Exit
				return append(slices.Clone(lines[:i+1]), x)
			})
		},
	}
}

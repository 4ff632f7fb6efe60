package fault

import (
	"bytes"
	"fmt"

	"github.com/turnspec/turnspec/fixtures"
)

// unknownValue adds a message of a known type whose kind no version has.
func unknownValue() Operator {
	const name = "unknown-value"
	return Operator{
		Name: name, Kind: Noticed, Doc: "After a line of stdout comes a known message with a value that no version has where it says of what kind it is.",
		Places: duringTurns, // an item of codex is of one
		Apply: func(c *fixtures.Case, place int) Fault {
			session := sessionIDs(c)[place]
			text := fmt.Sprintf(`{"type":"system","subtype":"weather_report","outlook":"fair","session_id":%q,"uuid":"0badcafe-0000-4000-8000-%012x"}`, session, place)
			if c.Runtime == "codex" {
				text = fmt.Sprintf(`{"method":"item/completed","params":{"threadId":%q,"turnId":%q,"item":{"type":"weatherReport","id":"weather-%d","outlook":"fair"}},"emittedAtMs":1795235985493}`,
					session, turnIDs(c)[place], place)
			}
			return at(c, place, Fault{Operator: name, Kind: Noticed}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				return insert(lines, i, text)
			})
		},
	}
}

// stderrFlood fills the pipe of stderr: a client that does not read it never
// hears of the rest.
func stderrFlood() Operator {
	const name = "stderr-flood"
	return Operator{
		Name: name, Kind: Transparent, Doc: "After the first line of stdout come 200 KiB on stderr.",
		Places: func(c *fixtures.Case) []int { return outputs(c)[:min(1, len(outputs(c)))] },
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Transparent}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				w := lines[i]
				w.Dir, w.Bytes = fixtures.Err, bytes.Repeat([]byte("0123456789abcdef"), 200<<10/16)
				return inserted(lines, i+1, w)
			})
		},
	}
}

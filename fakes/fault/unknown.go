package fault

import (
	"bytes"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// unknownLine adds a line that the runtime's package writes.
func unknownLine(name, doc string, places func(*lines, bool) []int, text func(*wire.Unknown) func(wire.Place) string) Operator {
	return Operator{
		Name: name, Kind: Noticed, Doc: doc,
		places: func(c *lines, named bool) []int {
			if text(&c.rt.Unknown) == nil {
				return nil
			}
			return places(c, named)
		},
		apply: addLine(Fault{}, func(c *lines, place int) []byte { return []byte(text(&c.rt.Unknown)(c.place(place))) }),
	}
}

// unknownMessage adds a message of a type that no version has. Ids of the session
// make it plausible for a client that looks at ids first.
func unknownMessage() Operator {
	return unknownLine("unknown-message", "A message of an unknown type follows a line of stdout.", allOutputs,
		func(u *wire.Unknown) func(wire.Place) string { return u.Message })
}

// unknownValue adds a message of a known type whose kind no version has.
func unknownValue() Operator {
	return unknownLine("unknown-value", "A known message follows a line of stdout, with a kind that no version has.", duringTurns,
		func(u *wire.Unknown) func(wire.Place) string { return u.Value })
}

// unknownRequest makes a request that no version makes. If the client does not
// answer, the runtime waits.
func unknownRequest() Operator {
	return unknownLine("unknown-request", "After a line of stdout the runtime makes a request that no version makes.", duringTurns,
		func(u *wire.Unknown) func(wire.Place) string { return u.Request })
}

// What unknown-field adds: to a message, and to the objects in it.
const (
	unknownMember = `,"weather":{"outlook":"fair"}`
	unknownWithin = `"weather":"fair",`
)

// WithoutUnknown removes from a text what unknown-field and the long lines have
// added: a client may pass a message on as it came.
func WithoutUnknown(text string) string {
	text = withoutLong(text)
	if !strings.Contains(text, `"weather":`) {
		return text // a Replacer is slow
	}
	return unknownMembers.Replace(text)
}

// unknownMembers removes the members in any place of their objects: a client may order
// the members of what it passes on.
var unknownMembers = strings.NewReplacer(
	unknownMember, "", strings.TrimPrefix(unknownMember, ",")+",", "",
	","+strings.TrimSuffix(unknownWithin, ","), "", unknownWithin, "",
)

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

// garbageLine adds a line that is not a JSON object.
func garbageLine() Operator {
	texts := []string{"npm warn deprecated: use something newer", `{"method":"item/st`, "\x00\x01\xff", "null", "[]", `"text"`}
	return Operator{
		Name: "garbage-line", Kind: Noticed, Doc: "A line that is no message follows a line of stdout.",
		places: allOutputs,
		apply: func(c *lines, place int) Fault {
			return at(c, place, Fault{}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				w := lines[i]
				return insertLine(lines, i+1, fixtures.WireLine{T: w.T, Process: w.Process, Dir: fixtures.Out, Bytes: []byte(texts[i%len(texts)])})
			})
		},
	}
}

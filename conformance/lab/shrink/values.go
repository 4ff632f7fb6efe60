package shrink

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// smallLine is the size from which on the values of a line are made smaller.
const smallLine = 200

// dropMembers removes members of long lines, and elements of their lists.
func (s *shrinker) dropMembers(ctx context.Context) {
	s.eachLongLine(ctx, func(line jsontext.Value) []jsontext.Value { return withoutOne(line, 3) })
}

// shortenStrings cuts long strings of long lines.
func (s *shrinker) shortenStrings(ctx context.Context) {
	s.eachLongLine(ctx, func(line jsontext.Value) []jsontext.Value {
		if short := shortened(line); len(short) < len(line) {
			return []jsontext.Value{short}
		}
		return nil
	})
}

// eachLongLine tries smaller forms of each long line, until none is kept.
func (s *shrinker) eachLongLine(ctx context.Context, smaller func(jsontext.Value) []jsontext.Value) {
	forms := func(line jsontext.Value) []jsontext.Value {
		if len(line) < smallLine || line[0] != '{' {
			return nil
		}
		return smaller(line)
	}
	for i, line := range s.best.recorded.Wire {
		if line.Dir != fixtures.Out {
			continue
		}
		Smallest(jsontext.Value(line.Bytes), forms, func() bool { return s.more(ctx) }, func(v jsontext.Value) bool {
			rest := slices.Clone(s.best.recorded.Wire)
			rest[i].Bytes = v
			return s.try(ctx, s.best.withWire(rest))
		})
	}
}

// withoutOne returns the forms of a value that lack one member or element, in the value
// itself and in those that it holds, the largest first.
func withoutOne(v jsontext.Value, depth int) []jsontext.Value {
	parts, ok := partsOf(v)
	if !ok || depth == 0 {
		return nil
	}
	var out []jsontext.Value
	for i, p := range parts {
		if len(p.value) > 24 {
			out = append(out, joinParts(v, slices.Delete(slices.Clone(parts), i, i+1)))
		}
	}
	for i, p := range parts {
		for _, smaller := range withoutOne(p.value, depth-1) {
			changed := slices.Clone(parts)
			changed[i].value = smaller
			out = append(out, joinParts(v, changed))
		}
	}
	slices.SortStableFunc(out, func(a, b jsontext.Value) int { return len(a) - len(b) })
	return out
}

// part is a member of an object, or an element of a list.
type part struct {
	name  jsontext.Value // quoted; nil in a list
	value jsontext.Value
}

// partsOf splits an object or a list.
func partsOf(v jsontext.Value) (out []part, ok bool) {
	if k := v.Kind(); k != '{' && k != '[' {
		return nil, false
	}
	d := jsontext.NewDecoder(bytes.NewReader(v), wire.AsWritten)
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	for k := d.PeekKind(); k != '}' && k != ']'; k = d.PeekKind() {
		var p part
		if v.Kind() == '{' {
			name, err := d.ReadValue()
			if err != nil {
				return nil, false
			}
			p.name = name.Clone()
		}
		value, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		p.value = value.Clone()
		out = append(out, p)
	}
	return out, true
}

// joinParts writes an object or a list with these parts.
func joinParts(like jsontext.Value, parts []part) jsontext.Value {
	open, end := "[", "]"
	if like.Kind() == '{' {
		open, end = "{", "}"
	}
	var b strings.Builder
	b.WriteString(open)
	for i, p := range parts {
		if i > 0 {
			b.WriteString(",")
		}
		if p.name != nil {
			b.Write(p.name)
			b.WriteString(":")
		}
		b.Write(p.value)
	}
	b.WriteString(end)
	return jsontext.Value(b.String())
}

// longString is the length of a string from which on it is cut. Ids are shorter.
const longString = 48

// shortened cuts the long strings of a value.
func shortened(v jsontext.Value) jsontext.Value {
	if v.Kind() == '"' {
		if text := wire.Unquote(v); len(text) > longString {
			return wire.Quote(strings.ToValidUTF8(text[:longString/2], "") + "…")
		}
		return v
	}
	parts, ok := partsOf(v)
	if !ok {
		return v
	}
	for i := range parts {
		parts[i].value = shortened(parts[i].value)
	}
	return joinParts(v, parts)
}

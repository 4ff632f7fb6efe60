package session

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// Skipper is a Protocol on whose wire a line that ends a turn may be too long to be read,
// because it repeats what was said. Skipped handles a line of more than Limits.Line bytes.
// head holds the strings in its first bytes, by their JSON pointers.
type Skipper interface{ Skipped(head map[string]string) }

// EndSkipped returns the error of a turn whose end was skipped.
func EndSkipped() event.Error {
	return event.Error{Code: event.ErrorProtocol, Message: "the line that ends the turn is too long to be read"}
}

// headOf reads the strings of a JSON object that was cut off.
func headOf(b []byte) map[string]string {
	head := map[string]string{}
	d := jsontext.NewDecoder(bytes.NewReader(b))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return head
		}
		_, n := d.StackIndex(d.StackDepth())
		if isValue := n%2 == 0; isValue && token.Kind() == '"' {
			head[string(d.StackPointer())] = token.String()
		}
	}
}

package conformance

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// CanonicalJSON are options with which equal values have equal JSON, whatever text
// they hold.
var CanonicalJSON = json.JoinOptions(json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// canonicalForm also normalizes JSON that events hold as the runtime sent it: an adapter
// may encode it again.
var canonicalForm = json.JoinOptions(CanonicalJSON, jsontext.ReorderRawObjects(true), jsontext.CanonicalizeRawInts(true), jsontext.CanonicalizeRawFloats(true))

// Canonical returns the events as JSON, without what differs between two runs: seq
// and ts, and ids that the subject or the stand-in chose. The run must be over.
//
// Rewriting ids is expensive, and most events of a run with a fault equal those of
// the plain run, so Canonical reuses the text of the plain run if it can.
func (r *Run) Canonical() []string {
	if r.index.canonical != nil {
		return r.index.canonical
	}
	canonical := make([]string, len(r.Events))
	var b bytes.Buffer
	var changed []int // events that the plain run does not have
	plain := 0
	for i := range r.Events {
		if k, same := r.findInPlain(plain, i); same {
			canonical[i], plain = r.Plain.index.canonical[k], k+1
			continue
		}
		changed = append(changed, i)
		appendCanonical(&b, &r.Events[i])
	}
	text := r.Recorded(b.String())
	for _, i := range changed {
		canonical[i], text, _ = strings.Cut(text, "\n")
	}
	r.index.canonical = canonical
	return canonical
}

// findInPlain finds event i of this run in the plain run, at index from or the one
// after.
func (r *Run) findInPlain(from, i int) (k int, same bool) {
	if r.Plain == nil {
		return 0, false
	}
	r.Plain.Canonical()
	for k := from; k < min(from+2, len(r.Plain.Events)); k++ {
		a, b := &r.Plain.Events[k], &r.Events[i]
		if a.Turn == b.Turn && a.SubagentID == b.SubagentID && reflect.DeepEqual(a.Data, b.Data) {
			return k, true
		}
	}
	return 0, false
}

func appendCanonical(b *bytes.Buffer, e *Event) {
	head := append(b.AvailableBuffer(), `{"type":"`...)
	head = append(append(head, e.Type()...), '"')
	if e.Turn != 0 {
		head = strconv.AppendInt(append(head, `,"turn":`...), int64(e.Turn), 10)
	}
	if e.SubagentID != "" {
		head, _ = jsontext.AppendQuote(append(head, `,"subagent_id":`...), e.SubagentID) // it fails on invalid UTF-8 only, which it replaces
	}
	b.Write(append(head, `,"data":`...))
	if err := json.MarshalWrite(b, e.Data, canonicalForm); err != nil {
		text, _ := jsontext.AppendQuote(nil, err.Error())
		b.Write(text)
	}
	b.WriteString("}\n")
}

// Stored returns the events as a store returns them: encoded as JSON and decoded.
// It is an error if an event differs then. The run must be over.
func (r *Run) Stored() ([]event.Event, error) {
	if r.index.stored != nil {
		return r.index.stored, nil
	}
	stored := make([]event.Event, 0, len(r.Events))
	var line, again []byte
	for _, e := range r.Events {
		var err error
		if line, err = e.AppendJSON(line[:0]); err != nil {
			return nil, err
		}
		decoded, err := event.Decode(line)
		if err != nil {
			return nil, err
		}
		if again, err = decoded.AppendJSON(again[:0]); err != nil {
			return nil, err
		}
		if !bytes.Equal(line, again) {
			return nil, fmt.Errorf("the event %s comes back as %s", line, again)
		}
		stored = append(stored, decoded)
	}
	r.index.stored = stored
	return stored, nil
}

package runtime

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// differs says how the subject's answer is not equivalent to the recorded one,
// or "". input is what the runtime asked about.
func differs(rec, sub answer, input jsontext.Value) string {
	if rec.decision == Failed && sub.decision == Deny {
		return "" // the recording's client had no answer to this kind of request
	}
	if rec.decision != sub.decision {
		return fmt.Sprintf("was told %s and sent %s", rec.decision, sub.decision)
	}
	a, b := rec.value, sub.value
	if rec.decision == Allow { // to repeat the input is to say nothing
		a, b = beyond(a, input), beyond(b, input)
	}
	switch {
	case a == nil && b == nil:
		return ""
	case a != nil && b != nil && sameJSON(a, b):
		return ""
	}
	return fmt.Sprintf("was told %s with %s and sent it with %s", rec.decision, show(a), show(b))
}

// beyond is a value unless it repeats the input. What an answer adds to a
// question's input are the answers: they alone are compared then.
func beyond(v, input jsontext.Value) jsontext.Value {
	if v == nil || input != nil && sameJSON(v, input) {
		return nil
	}
	var q struct {
		Answers jsontext.Value `json:"answers"`
	}
	if decode(v, &q) == nil && q.Answers != nil {
		return q.Answers
	}
	return v
}

func show(v jsontext.Value) string {
	if v == nil {
		return "nothing"
	}
	return fmt.Sprintf("%.200s", v)
}

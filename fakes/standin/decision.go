package standin

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures/wire"
)

// difference returns how the subject's answer differs from the recorded one, or "" if they are
// equivalent. input is what the runtime asked about.
func difference(rec, sub wire.Decision, input jsontext.Value) string {
	if rec.Word == Failed && sub.Word == Deny {
		return "" // the recording's client had no answer to this kind of request
	}
	if rec.Word != sub.Word {
		return fmt.Sprintf("must answer %s, sent %s", rec.Word, sub.Word)
	}
	if rec.Scope != sub.Scope {
		return fmt.Sprintf("must %s it %s, sent it %s", rec.Word, scopeWords(rec.Scope), scopeWords(sub.Scope))
	}
	a, b := rec.Value, sub.Value
	if rec.Word == Allow { // an input that is repeated changes nothing
		a, b = changedInput(a, input), changedInput(b, input)
	}
	switch {
	case a == nil && b == nil:
		return ""
	case a != nil && b != nil && wire.SameJSON(a, b), rec.Word == Value && isEmptyReply(a) && isEmptyReply(b):
		return ""
	}
	return fmt.Sprintf("must answer %s with %s, sent it with %s", rec.Word, clipValue(a), clipValue(b))
}

// changedInput is the value unless it repeats the input. If it answers a question,
// it is the answers, which are added to the question's input.
func changedInput(v, input jsontext.Value) jsontext.Value {
	if v == nil || input != nil && wire.SameJSON(v, input) {
		return nil
	}
	var q struct {
		Answers jsontext.Value `json:"answers"`
	}
	if wire.Decode(v, &q) == nil && q.Answers != nil {
		return q.Answers
	}
	return v
}

// isEmptyReply reports whether a value holds nothing: a hook's reply that only lets
// the runtime go on.
func isEmptyReply(v jsontext.Value) bool {
	return v == nil || wire.SameJSON(v, jsontext.Value(`{}`)) || wire.SameJSON(v, jsontext.Value(`{"continue":true}`))
}

func scopeWords(scope string) string {
	switch scope {
	case wire.ScopeSession:
		return "for the session"
	case wire.ScopeAlways:
		return "always"
	}
	return "once"
}

func clipValue(v jsontext.Value) string {
	if v == nil {
		return "nothing"
	}
	return fmt.Sprintf("%.200s", v)
}

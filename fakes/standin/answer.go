package standin

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
	if rec.scope != sub.scope {
		return fmt.Sprintf("was told to allow it %s and allowed it %s", howLong(rec.scope), howLong(sub.scope))
	}
	a, b := rec.value, sub.value
	if rec.decision == Allow { // to repeat the input is to say nothing
		a, b = beyond(a, input), beyond(b, input)
	}
	switch {
	case a == nil && b == nil:
		return ""
	case a != nil && b != nil && sameJSON(a, b), rec.decision == Value && nothing(a) && nothing(b):
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

func howLong(scope string) string {
	switch scope {
	case session:
		return "for the session"
	case always:
		return "always"
	}
	return "once"
}

func show(v jsontext.Value) string {
	if v == nil {
		return "nothing"
	}
	return fmt.Sprintf("%.200s", v)
}

// content0 is what a form holds; without anything in it there is none.
func content0(v jsontext.Value) jsontext.Value {
	if v != nil && (v.Kind() == 'n' || sameJSON(v, jsontext.Value("{}"))) {
		return nil
	}
	return v
}

// mcpAnswer is what a client says as an MCP server. The answer to a call counts
// by its content; how else a server says who it is and what it has is its own
// affair.
func mcpAnswer(v jsontext.Value) answer {
	var r struct {
		Error  jsontext.Value `json:"error"`
		Result struct {
			Content jsontext.Value `json:"content"`
			IsError bool           `json:"isError"`
		} `json:"result"`
	}
	_ = decode(v, &r) // what has neither is an answer without content
	switch {
	case r.Error != nil:
		return answer{decision: Failed}
	case r.Result.IsError:
		return answer{decision: Failed, value: r.Result.Content}
	case r.Result.Content == nil:
		return answer{decision: Value}
	}
	return answer{decision: Value, value: r.Result.Content}
}

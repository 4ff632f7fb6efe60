package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// historyError returns why a server of the API would reject the messages of a request: each
// call of an assistant's message needs one result, in the messages that follow it at once.
func historyError(body string) error {
	var b struct {
		Messages []struct {
			Role       string `json:"role"`
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string `json:"id"`
				Function struct {
					Name string `json:"name"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		return err
	}
	var open []string
	for i, m := range b.Messages {
		at := slices.Index(open, m.ToolCallID)
		switch {
		case m.Role == "tool" && at < 0:
			return fmt.Errorf("message %d is the result of no open call %q", i, m.ToolCallID)
		case m.Role == "tool":
			open = slices.Delete(open, at, at+1)
		case len(open) > 0:
			return fmt.Errorf("message %d comes before the results of %q", i, open)
		}
		for _, k := range m.ToolCalls {
			if k.ID == "" || k.Function.Name == "" {
				return fmt.Errorf("message %d has a call without an id or a name", i)
			}
			open = append(open, k.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the calls %q have no result", open)
	}
	return nil
}

func TestHistoryErrorDetects(t *testing.T) {
	g := NewWithT(t)
	for _, messages := range []string{
		`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x"}}]}`,
		`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x"}}]},{"role":"user"}`,
		`{"role":"tool","tool_call_id":"a"}`,
		`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x"}}]},{"role":"tool","tool_call_id":"a"},{"role":"tool","tool_call_id":"a"}`,
		`{"role":"assistant","tool_calls":[{"id":"a","function":{}}]},{"role":"tool","tool_call_id":"a"}`,
	} {
		g.Expect(historyError(`{"messages":[` + messages + `]}`)).NotTo(Succeed())
	}
	g.Expect(historyError(`{"messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x"}}]},{"role":"tool","tool_call_id":"a"},{"role":"user"}]}`)).To(Succeed())
}

// piece is an event of a stream with a part of a call.
func piece(index int, id, name, arguments string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":%d,\"id\":%q,\"function\":{\"name\":%q,\"arguments\":%q}}]}}]}\n\n", index, id, name, arguments)
}

func finish(reason string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", reason)
}

const word = "data: {\"choices\":[{\"delta\":{\"content\":\"Well. \"}}]}\n\n"

// However a turn ends, the next request holds a history that the API takes.
func TestHistoryIsValidAfterEachEnd(t *testing.T) {
	twoCalls := word + piece(0, "call_1", "quick", "{}") + piece(1, "call_2", "slow", "{}") + finish("tool_calls")
	denies := func(context.Context, adapters.Call) adapters.Verdict {
		return adapters.Verdict{Effect: adapters.EffectDeny, Reason: "no"}
	}
	stop := func(s adapters.Session) error { return s.Stop(context.Background()) }
	for name, c := range map[string]struct {
		replies []string
		after   event.Type // the event at which step is called
		step    func(adapters.Session) error
		options adapters.Options
		ends    event.Type
	}{
		"stopped in mid-text":           {replies: []string{word + hold}, after: event.TypeDelta, step: stop},
		"stopped within the calls":      {replies: []string{word + piece(0, "call_1", "quick", "{\"a\":") + hold}, after: event.TypeDelta, step: stop},
		"stopped while one of two runs": {replies: []string{twoCalls}, after: event.TypeToolResult, step: stop},
		"stopped in the second request": {replies: []string{piece(0, "call_1", "quick", "{}") + finish("tool_calls"), word + hold}, after: event.TypeDelta, step: stop},
		"all stopped while one runs": {replies: []string{twoCalls}, after: event.TypeToolResult, step: func(s adapters.Session) error {
			a, _ := adapters.As[adapters.AllStopper](s)
			return a.StopAll(context.Background())
		}},
		"cut in mid-text, then retried": {replies: []string{word + cutOff}, ends: event.TypeDone},
		"cut within the calls":          {replies: []string{word + piece(0, "call_1", "quick", "{\"a\":") + cutOff, twoCalls}, after: event.TypeToolResult, step: stop},
		"cut for good after a call":     {replies: []string{piece(0, "call_1", "quick", "{}") + finish("tool_calls"), word + cutOff, word + cutOff, word + cutOff}, ends: event.TypeError},
		"cut by the length":             {replies: []string{word + piece(0, "call_1", "quick", "{\"a\":") + finish("length")}, ends: event.TypeDone},
		"an event that is not JSON":     {replies: []string{word + "data: {\n\n" + hold, word + "data: {\n\n" + hold, word + "data: {\n\n" + hold}, ends: event.TypeError},
		"a call that fails":             {replies: []string{piece(0, "call_1", "fails", "{}") + finish("tool_calls")}, ends: event.TypeDone},
		"calls that the Judge denies":   {replies: []string{piece(0, "call_1", "quick", "{}") + piece(1, "call_2", "quick", "{}") + finish("tool_calls")}, options: adapters.Options{Judge: denies}, ends: event.TypeDone},
		"a call that the user cancels": {replies: []string{piece(0, "call_1", "quick", "{}") + piece(1, "call_2", "quick", "{}") + finish("tool_calls")}, options: adapters.Options{Opening: op.Opening{Mode: adapters.ModeAsk}}, after: event.TypePermissionRequest, step: func(s adapters.Session) error {
			return s.Answer(context.Background(), "call_1", adapters.Answer{Decision: event.DecisionCancel})
		}},
		"the limit of requests":       {replies: []string{piece(0, "call_1", "quick", "{}") + finish("tool_calls")}, options: adapters.Options{Opening: op.Opening{MaxRequests: 1}}, ends: event.TypeError},
		"calls of an unknown tool":    {replies: []string{piece(0, "call_1", "guess", "{}") + finish("tool_calls")}, ends: event.TypeDone},
		"arguments that are not JSON": {replies: []string{piece(0, "call_1", "quick", "{\"a\":") + finish("tool_calls")}, ends: event.TypeDone},
		"a call without an id":        {replies: []string{piece(0, "", "quick", "{}") + piece(1, "", "quick", "{}") + finish("tool_calls")}, ends: event.TypeDone},
		"two calls with the same id":  {replies: []string{piece(0, "call_1", "quick", "{}") + piece(1, "call_1", "quick", "{}") + finish("tool_calls")}, ends: event.TypeDone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			o := c.options
			answer := adapters.ToolAnswer{Content: []adapters.ToolContent{{Text: "done"}}}
			o.Tools = []adapters.Tool{
				{Name: "quick", Call: func(context.Context, adapters.ToolCall) (adapters.ToolAnswer, error) { return answer, nil }},
				{Name: "slow", Call: func(ctx context.Context, _ adapters.ToolCall) (adapters.ToolAnswer, error) {
					<-ctx.Done()
					return answer, ctx.Err()
				}},
				{Name: "fails", Call: func(context.Context, adapters.ToolCall) (adapters.ToolAnswer, error) {
					return answer, errors.New("it is broken")
				}},
			}
			m := newModel(t, c.replies...)
			s := open(t, m, o)
			g.Expect(s.Send(t.Context(), adapters.Message{ID: "m1", Text: "Work."})).To(Succeed())
			ends := c.ends
			if c.step != nil {
				readUntil(t, s, c.after)
				g.Expect(c.step(s)).To(Succeed())
				ends = event.TypeDone
			}
			readUntil(t, s, ends)
			m.mu.Lock()
			before := len(m.bodies)
			m.replies = nil
			m.mu.Unlock()
			g.Expect(s.Send(t.Context(), adapters.Message{ID: "m2", Text: "Go on."})).To(Succeed())
			readUntil(t, s, event.TypeDone)
			m.mu.Lock()
			defer m.mu.Unlock()
			g.Expect(len(m.bodies)).To(BeNumerically(">", before))
			for i, b := range m.bodies {
				g.Expect(historyError(b)).To(Succeed(), "request %d: %s", i, b)
			}
		})
	}
}

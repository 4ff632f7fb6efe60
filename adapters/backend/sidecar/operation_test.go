package sidecar_test

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/op"
)

// operable is an adapter whose sessions note the operations that they run.
type operable struct {
	scripted
	calls chan op.Call
}

func (a *operable) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	s, err := a.scripted.Open(ctx, o)
	return &operated{s, a.calls}, err
}

// operated implements one operation by its interface, and the others by their names.
type operated struct {
	adapters.Session
	calls chan op.Call
}

func (s *operated) Withdraw(_ context.Context, id string) error {
	s.calls <- op.Call{Do: "by its interface", MessageID: id}
	return nil
}

func (s *operated) Do(_ context.Context, c op.Call) (any, error) {
	s.calls <- c
	switch c.Do {
	case op.List.Name:
		return []adapters.Listed{{ID: c.List}}, nil
	case op.Rewind.Name:
		return adapters.Rewound{Files: []string{"a.txt"}, Insertions: 1}, nil
	case op.Archive.Name:
		return nil, adapters.ErrUnsupported
	}
	return nil, nil
}

// TestOperations checks that the route do runs each operation with its members, and returns
// the result.
func TestOperations(t *testing.T) {
	g := NewWithT(t)
	a := &operable{calls: make(chan op.Call, 1)}
	log := &eventlog.Memory{}
	x := serverOf(t, sidecar.New(sidecar.Config{Log: log, Adapters: map[string]adapters.Adapter{"operable": a}}), log)
	x.open("s")
	for body, want := range map[string]struct {
		call   op.Call
		result any
	}{
		`{"do":"withdraw","message_id":"m1"}`:          {call: op.Call{Do: "by its interface", MessageID: "m1"}},
		`{"do":"compact"}`:                             {call: op.Call{Do: "compact"}},
		`{"do":"rename","text":"Rivers"}`:              {call: op.Call{Do: "rename", Text: "Rivers"}},
		`{"do":"list","list":"models"}`:                {call: op.Call{Do: "list", List: "models"}, result: []any{map[string]any{"id": "models"}}},
		`{"do":"rewind","message_id":"m1","dry":true}`: {call: op.Call{Do: "rewind", MessageID: "m1", Dry: true}, result: map[string]any{"files": []any{"a.txt"}, "insertions": 1.0}},
		`{"do":"set_mode","mode":"plan"}`:              {call: op.Call{Do: "set_mode", Mode: "plan"}},
		`{"do":"stop_task","task_id":"t1"}`:            {call: op.Call{Do: "stop_task", TaskID: "t1"}},
	} {
		status, answer := x.call("POST", "/sessions/s/do", body)
		g.Expect(status).To(Equal(202), "%s: %v", body, answer)
		g.Expect(<-a.calls).To(Equal(want.call), body)
		if want.result == nil {
			g.Expect(answer).NotTo(HaveKey("result"), body)
		} else {
			g.Expect(answer).To(HaveKeyWithValue("result", want.result), body)
		}
	}
	status, answer := x.call("POST", "/sessions/s/do", `{"do":"archive"}`)
	g.Expect(status).To(Equal(501), "%v", answer)
	<-a.calls

	// A message of steer runs once, like any other.
	steer := `{"do":"steer","message_id":"m2","text":"On."}`
	status, answer = x.call("POST", "/sessions/s/do", steer)
	g.Expect(status).To(Equal(202), "%v", answer)
	g.Expect(answer).To(HaveKeyWithValue("message_id", "m2"))
	g.Expect(<-a.calls).To(Equal(op.Call{Do: "steer", MessageID: "m2", Text: "On."}))
	status, answer = x.call("POST", "/sessions/s/do", steer)
	g.Expect(status).To(Equal(200), "%v", answer)
	g.Expect(answer).To(HaveKeyWithValue("repeated", true))
	g.Expect(a.calls).To(BeEmpty())
}

// TestEmptyMessage checks that an empty message reaches the runtime, which decides about it, and that a body
// without one does not.
func TestEmptyMessage(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.open("s")
	for body, want := range map[string]int{`{"message":"","message_id":"m1"}`: 202, `{"message_id":"m2"}`: 400, `{}`: 400} {
		status, answer := x.call("POST", "/sessions/s/message", body)
		g.Expect(status).To(Equal(want), "%s: %v", body, answer)
	}
	status, answer := x.call("POST", "/sessions/s/do", `{"do":"steer","message_id":"m3"}`)
	g.Expect(status).To(Equal(400), "%v", answer)
}

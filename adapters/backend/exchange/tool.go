package exchange

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/internal/interleave"
	"github.com/turnspec/turnspec/adapters/event"
)

// ToolName is the name of the tool. Some runtimes put the name of a server before it.
const ToolName = "agents_message"

// input is the input of the tool.
type input struct {
	To      string `json:"to"`
	Message string `json:"message"`
	Wait    bool   `json:"wait"`
}

// Reply is what a call returns, as JSON.
type Reply struct {
	ExchangeID string           `json:"exchange_id"`
	SessionID  string           `json:"session_id"` // the receiver's
	Status     event.TaskStatus `json:"status"`     // running, or completed
	Answer     string           `json:"answer,omitempty"`
}

// tool returns the tool for a session.
func (h *Hub) tool(s *session) adapters.Tool {
	return adapters.Tool{
		Name: ToolName,
		Description: "Sends a message to another agent. to is the name of an agent (" + strings.Join(h.names(), ", ") + ") or the id of a session. " +
			"The call returns at once, and the answer reaches you later as a message. With wait, the call returns the answer.",
		Schema: event.Raw(`{"type":"object","properties":{"to":{"type":"string"},"message":{"type":"string"},"wait":{"type":"boolean"}},"required":["to","message"]}`),
		Call: func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
			reply, err := h.exchange(ctx, s, c)
			if err == nil {
				return textAnswer(reply, false)
			}
			if e, is := errors.AsType[*Error](err); is {
				return textAnswer(e, true)
			}
			return adapters.ToolAnswer{}, err
		},
	}
}

func textAnswer(v any, failed bool) (adapters.ToolAnswer, error) {
	b, err := json.Marshal(v)
	return adapters.ToolAnswer{Content: []adapters.ToolContent{{Text: string(b)}}, IsError: failed}, err
}

// exchange carries out a call.
func (h *Hub) exchange(ctx context.Context, from *session, c adapters.ToolCall) (Reply, error) {
	var in input
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return Reply{}, refuse(CodeInvalid, "the input does not match its schema: %v", err)
	}
	switch {
	case in.To == "" || strings.TrimSpace(in.Message) == "":
		return Reply{}, refuse(CodeInvalid, "to and message must not be empty")
	case len(in.Message) > h.c.MaxMessage:
		return Reply{}, refuse(CodeTooLarge, "the message has %d bytes: %d are allowed", len(in.Message), h.c.MaxMessage)
	}
	because := from.causeOf()
	if because.depth() >= h.c.MaxDepth {
		return Reply{}, refuse(CodeDepth, "%d messages are being answered, one within the other: answer this one first", because.depth())
	}
	to, err := h.receiver(ctx, from, in.To)
	if err != nil {
		return Reply{}, err
	}
	if err := because.allows(from, to); err != nil {
		return Reply{}, err
	}
	if in.Wait {
		if err := h.addWait(from, to); err != nil {
			return Reply{}, err
		}
		defer h.removeWait(from, to)
	}
	if !because.chain.grow(h.c.MaxChain) {
		return Reply{}, refuse(CodeTooMany, "one message of the user has led to %d exchanges: report to the user first", h.c.MaxChain)
	}
	x := newExchange(from, to, because, in, c.ID)
	return x.start(ctx)
}

func newExchange(from, to *session, because *cause, in input, call string) *exchange {
	x := &exchange{
		id: idPrefix + strings.ToLower(rand.Text()[:12]), sender: from, receiver: to, text: in.Message, wait: in.Wait, call: call,
		parent: because.parent, chain: because.chain, changed: make(chan struct{}, 1), ended: make(chan struct{}), settled: make(chan struct{}), queued: make(chan struct{}),
	}
	x.request = newDelivery(x.id, x, false)
	return x
}

// start queues the message, and waits for the answer if the call does.
func (x *exchange) start(ctx context.Context) (Reply, error) {
	if !x.sender.addOutgoing(x) {
		return Reply{}, adapters.ErrClosed
	}
	if err := x.receiver.enqueue(x.request); err != nil {
		x.sender.removeOutgoing(x)
		close(x.queued)
		x.sender.work.Done()
		return Reply{}, err
	}
	cancelled := ctx.Done()
	if !x.wait {
		cancelled = nil // the exchange outlives the call
	}
	go x.run(cancelled) //nolint:gosec // the exchange outlives a call that does not wait
	err := x.sender.Do(ctx, func(reply func(error)) {
		if x.call == "" {
			x.insertStart(interleave.Place{Turn: x.sender.Turn()})
			reply(nil)
			return
		}
		x.sender.AtCall(x.call, func(at interleave.Place, err error) {
			if err == nil {
				x.insertStart(at)
			}
			reply(err)
		})
	})
	if err != nil {
		x.endAs(refuse(CodeInterrupted, "%v", err))
		return Reply{}, fmt.Errorf("%s: %w", x.id, err)
	}
	reply := Reply{ExchangeID: x.id, SessionID: x.receiver.id, Status: event.TaskRunning}
	if !x.wait {
		return reply, nil
	}
	<-x.settled
	status, text := x.result()
	if status != event.TaskCompleted {
		return Reply{}, x.failure
	}
	reply.Status, reply.Answer = status, text
	return reply, nil
}

// depth returns how many exchanges the agent is answering, one within the other.
func (c *cause) depth() int {
	n := 0
	for x := c.parent; x != nil; x = x.parent {
		n++
	}
	return n
}

// allows returns an error if the receiver waits for the sender's answer.
func (c *cause) allows(from, to *session) error {
	if from == to {
		return refuse(CodeSelf, "session %s is this one", to.id)
	}
	for x := c.parent; x != nil; x = x.parent {
		if x.sender == to {
			return refuse(CodeCycle, "session %s waits for your answer to %s", to.id, x.id)
		}
	}
	return nil
}

// grow counts another exchange, unless there are as many as allowed.
func (c *chain) grow(limit int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n >= limit {
		return false
	}
	c.n++
	return true
}

package session

import (
	"errors"
	"fmt"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// ErrTimeout is the error of a call without a reply.
var ErrTimeout = errors.New("no answer within the limit")

// RefusedError is an error reply of the runtime, in its words. It is adapters.ErrRefused.
type RefusedError string

func (r RefusedError) Error() string { return string(r) }

// Unwrap implements the interface of package errors.
func (r RefusedError) Unwrap() error { return adapters.ErrRefused }

// Calls are the requests of a Protocol that have no reply yet, by the numbers that it gives
// them. R is what a reply holds. The zero Calls has none.
type Calls[R any] struct {
	last int
	open map[int]*Call[R]
}

// Call is a request without a reply.
type Call[R any] struct {
	what   string
	then   func(R, error)
	cancel func()
}

// Add adds a request, and returns its number: 1 for the first. then is called once, with the
// reply or an error, also if a limited request has no reply within Limits.Request. what names the
// request in errors; "" if the caller names it.
func (c *Calls[R]) Add(h Host, what string, limited bool, then func(R, error)) int {
	if c.open == nil {
		c.open = map[int]*Call[R]{}
	}
	c.last++
	number := c.last
	k := &Call[R]{what: what, then: then, cancel: func() {}}
	if limit := h.Limits().Request; limited {
		k.cancel = h.After(limit, func() {
			delete(c.open, number)
			k.Fail(fmt.Errorf("%w of %v", ErrTimeout, limit))
		})
	}
	c.open[number] = k
	return number
}

// Take removes the request with this number and returns it; nil if there is none.
func (c *Calls[R]) Take(number int) *Call[R] {
	k := c.open[number]
	if k != nil {
		delete(c.open, number)
		k.cancel()
	}
	return k
}

// Given reports whether a number was that of a request, whose reply may be late.
func (c *Calls[R]) Given(number int) bool { return number > 0 && number <= c.last }

// Oldest returns the number of the request of this name that has waited longest for its
// reply; 0 if there is none.
func (c *Calls[R]) Oldest(what string) (oldest int) {
	for number, k := range c.open {
		if k.what == what && (oldest == 0 || number < oldest) {
			oldest = number
		}
	}
	return oldest
}

// Reply handles the reply to the request.
func (k *Call[R]) Reply(r R) { k.then(r, nil) }

// Fail handles the failure of the request.
func (k *Call[R]) Fail(err error) {
	if k.what != "" {
		err = fmt.Errorf("%s: %w", k.what, err)
	}
	var none R
	k.then(none, err)
}

// handshake is the part of an opening that depends on no option: a runtime that refuses it
// speaks another protocol.
const handshake = "handshake"

// FailOpen ends the opening of a session with the error of a request.
func FailOpen(h Host, op string, err error) {
	e := &adapters.OpenError{Code: event.ErrorProtocol, Op: op, Err: err}
	switch {
	case errors.Is(err, ErrTimeout):
		e.Code = event.ErrorTimeout
	case errors.Is(err, adapters.ErrUnsupported), errors.Is(err, adapters.ErrRefused) && op != handshake:
		e.Code = event.ErrorInvalid
	}
	h.Ready(e)
}

// EarlyStop is a Stop before the turn has begun. A runtime ignores an interrupt while no turn
// runs, so that it is sent when the turn begins.
type EarlyStop struct{ interrupt func() }

// Stop calls interrupt if a turn runs, or when one begins.
func (s *EarlyStop) Stop(running bool, interrupt func()) {
	if running {
		interrupt()
		return
	}
	s.interrupt = interrupt
}

// TurnBegan stops the turn if it was to be stopped.
func (s *EarlyStop) TurnBegan() {
	if f := s.interrupt; f != nil {
		s.interrupt = nil
		f()
	}
}

// Cancel is called when no turn will begin for the Stop.
func (s *EarlyStop) Cancel() { s.interrupt = nil }

package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// Question is a question of the runtime that waits for an answer. A Protocol embeds it in its
// own type. While a Judge decides, the user's answer is held back.
type Question struct {
	ID      string // in events
	cancel  func() // nil if no Judge runs
	answers []func()
}

func (q *Question) base() *Question { return q }

// Judge lets the Judge decide about the call that the question is about. answer answers the
// question, unless the verdict leaves it to the user; answers that were held back follow. The
// question was emitted before, because the runtime may end meanwhile. unjudged returns what the
// mode decides without asking the user, or "" if it asks; nil: it asks.
func (q *Question) Judge(h Host, j adapters.Judge, call adapters.Call, unjudged func() event.Decision, answer func(adapters.Answer)) {
	q.cancel = h.Go(func(ctx context.Context) func() {
		v := j.Decide(ctx, call)
		return func() {
			q.cancel = nil
			a := adapters.Answer{Decision: event.DecisionDeny, By: event.ByPolicy, Message: v.Reason}
			switch v.Effect {
			case adapters.EffectAllow:
				a.Decision = event.DecisionAllow
			case adapters.EffectAsk:
				a.Decision, a.By = "", event.ByRuntime
				if unjudged != nil {
					a.Decision = unjudged()
				}
			}
			if a.Decision != "" {
				answer(a)
			}
			q.releaseAnswers()
		}
	})
}

// stop cancels the Judge because the question was closed. The answers that were held back then
// fail, because the question is unknown.
func (q *Question) stop() {
	if q.cancel != nil {
		q.cancel()
		q.cancel = nil
		q.releaseAnswers()
	}
}

func (q *Question) releaseAnswers() {
	held := q.answers
	q.answers = nil
	for _, answer := range held {
		answer()
	}
}

// question is a pointer to a struct that embeds Question.
type question interface {
	comparable
	base() *Question
}

// Questions are the open questions of a Protocol, oldest first.
type Questions[Q question] []Q

// Find returns the question with this id; nil if none is open.
func (o Questions[Q]) Find(id string) (q Q) {
	for _, q := range o {
		if q.base().ID == id {
			return q
		}
	}
	return q
}

// Drop removes a question that was closed.
func (o *Questions[Q]) Drop(q Q) {
	*o = slices.DeleteFunc(*o, func(x Q) bool { return x == q })
	q.base().stop()
}

// Answer calls answer for the question with this id and replies with its error, after the Judge
// has decided if one runs.
func (o *Questions[Q]) Answer(id string, reply func(error), answer func(Q) error) {
	q := o.Find(id)
	var none Q
	switch {
	case q == none:
		reply(fmt.Errorf("%w: %q", adapters.ErrUnknownID, id))
	case q.base().cancel != nil:
		q.base().answers = append(q.base().answers, func() { o.Answer(id, reply, answer) })
	default:
		reply(answer(q))
	}
}

// All returns the questions, for a loop that drops some.
func (o Questions[Q]) All() []Q { return slices.Clone(o) }

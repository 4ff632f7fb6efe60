package runner

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// refusal is the answer to a question that was not answered in time.
var refusal = adapters.Answer{Value: jsontext.Value("false"), By: event.ByPolicy}

// await refuses a request that is not answered in time, or at once if the input has ended.
func (r *runner) await(id string, refuse adapters.Answer) {
	if r.ctx.Err() != nil {
		return // the end of the session refuses it
	}
	if r.draining {
		r.answer("", id, refuse)
		return
	}
	r.pending[id] = time.AfterFunc(r.c.AnswerLimit, func() {
		r.later(func() {
			if r.pending[id] != nil {
				r.answer("", id, refuse)
			}
		})
	})
}

// forgetRequest stops to wait for an answer.
func (r *runner) forgetRequest(id string) {
	if t := r.pending[id]; t != nil {
		t.Stop()
		delete(r.pending, id)
	}
}

// answer answers a request beside other operations, because the runtime may wait for it.
func (r *runner) answer(name, id string, a adapters.Answer) {
	r.forgetRequest(id)
	r.doNow(name, func(ctx context.Context) error { return r.session.Answer(ctx, id, a) })
}

// refuseAll refuses all open requests.
func (r *runner) refuseAll() {
	for id := range r.pending {
		r.answer("", id, adapters.Answer{Decision: event.DecisionDeny, Message: "Nobody can answer.", Value: refusal.Value, By: event.ByPolicy})
	}
}

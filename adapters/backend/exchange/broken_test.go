package exchange_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/exchange"
	"github.com/turnspec/turnspec/adapters/backend/exchange/exchangetest"
	"github.com/turnspec/turnspec/adapters/event"
)

// broken are exchanges with one defect, and the rules that must be broken. Most defects
// are in how messages are sent; some are in the sender's events.
var broken = map[string]struct {
	send   func(m adapters.Message, send func(adapters.Message) error) error
	events func([]event.Event) []event.Event // of the sender
	answer func(*turn)
	wait   bool
	breaks []exchangetest.Rule
}{
	"loses the answer": {
		send: func(m adapters.Message, send func(adapters.Message) error) error {
			if _, answer := exchange.Of(m.ID); answer {
				return nil
			}
			return send(m)
		},
		breaks: []exchangetest.Rule{exchangetest.Returned},
	},
	"answers twice": {
		send: func(m adapters.Message, send func(adapters.Message) error) error {
			if _, answer := exchange.Of(m.ID); answer {
				_ = send(m)
			}
			return send(m)
		},
		breaks: []exchangetest.Rule{exchangetest.Returned},
	},
	"sends the message twice": {
		send: func(m adapters.Message, send func(adapters.Message) error) error {
			if of, answer := exchange.Of(m.ID); of != "" && !answer {
				_ = send(m)
			}
			return send(m)
		},
		breaks: []exchangetest.Rule{exchangetest.SentOnce},
	},
	"answers another exchange": {
		send: func(m adapters.Message, send func(adapters.Message) error) error {
			if _, answer := exchange.Of(m.ID); answer {
				m.Text = strings.ReplaceAll(m.Text, "Two", "Three")
			}
			return send(m)
		},
		breaks: []exchangetest.Rule{exchangetest.Returned},
	},
	"returns the answer of another exchange": {
		events: changeTasks(func(d event.Task) []event.Task {
			d.Text = strings.ReplaceAll(d.Text, "Two", "Three")
			return []event.Task{d}
		}),
		wait: true, breaks: []exchangetest.Rule{exchangetest.Answer, exchangetest.Returned},
	},
	"does not end when the receiver crashes": {
		answer: func(t *turn) { t.crashed = true },
		events: changeTasks(func(d event.Task) []event.Task {
			if d.Status != event.TaskRunning {
				return nil
			}
			return []event.Task{d}
		}),
		wait: true, breaks: []exchangetest.Rule{exchangetest.EndsOnce},
	},
	"does not end when the turn does": {
		events: changeTasks(func(d event.Task) []event.Task {
			if d.Status != event.TaskRunning {
				return nil
			}
			return []event.Task{d}
		}),
		wait: true, breaks: []exchangetest.Rule{exchangetest.EndsWith, exchangetest.EndsOnce},
	},
	"ends twice": {
		events: changeTasks(func(d event.Task) []event.Task {
			if d.Status == event.TaskRunning {
				return []event.Task{d}
			}
			return []event.Task{d, d}
		}),
		wait: true, breaks: []exchangetest.Rule{exchangetest.EndsOnce},
	},
	"completes what failed": {
		answer: func(t *turn) { t.failed = true },
		events: changeTasks(func(d event.Task) []event.Task {
			if d.Status == event.TaskFailed {
				d.Status, d.Text = event.TaskCompleted, ""
			}
			return []event.Task{d}
		}),
		wait: true, breaks: []exchangetest.Rule{exchangetest.EndsWith},
	},
}

// changeTasks replaces the tasks in a stream.
func changeTasks(change func(event.Task) []event.Task) func([]event.Event) []event.Event {
	return func(events []event.Event) (out []event.Event) {
		for _, e := range events {
			d, is := e.Data.(event.Task)
			if !is {
				out = append(out, e)
				continue
			}
			for _, changed := range change(d) {
				e.Data = changed
				out = append(out, e)
			}
		}
		return out
	}
}

// TestBrokenExchangesBreakTheirRules proves each rule.
func TestBrokenExchangesBreakTheirRules(t *testing.T) {
	proven := map[exchangetest.Rule]bool{}
	for name, b := range broken {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			answer := b.answer
			if answer == nil {
				answer = counter
			}
			all := map[string]*agents{"asker": {answer: asker}, "counter": {answer: answer}}
			r := newBroken(b.send)
			run(t, exchange.Config{}, all, fmt.Sprintf(`{"to":"counter","message":"How many?","wait":%v}`, b.wait), nil, r)
			sessions := allEvents(r)
			if b.events != nil {
				sessions["a"] = b.events(sessions["a"])
			}
			report := exchangetest.Judge(sessions)
			var rules []exchangetest.Rule
			for _, p := range report.Problems {
				rules = append(rules, p.Rule)
				proven[p.Rule] = true
			}
			slices.Sort(rules)
			want := slices.Sorted(slices.Values(b.breaks))
			g.Expect(rules).To(Equal(want), "%v", report.Problems)
		})
	}
	NewWithT(t).Expect(proven).To(HaveLen(5), "each rule is broken by an exchange")
}

func newBroken(send func(adapters.Message, func(adapters.Message) error) error) *recorded {
	return &recorded{breakSend: send}
}

// allEvents returns the events of all sessions.
func allEvents(r *recorded) map[string][]event.Event {
	out := map[string][]event.Event{}
	for id := range r.readers {
		out[id] = r.events(id)
	}
	return out
}

var _ exchange.Host = (*recorded)(nil)

// sendTo sends a message, perhaps with a defect.
func (r *recorded) sendTo(ctx context.Context, session string, m adapters.Message) error {
	send := func(m adapters.Message) error { return r.session(session).Send(ctx, m) }
	if r.breakSend != nil {
		return r.breakSend(m, send)
	}
	return send(m)
}

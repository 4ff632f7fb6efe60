package fault

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// The beginnings of the ids of the requests that stale-request and unreadable-request
// add.
const (
	StaleRequestID      = "stale-"
	UnreadableRequestID = "unreadable-"
)

// isQuestion reports whether a line is a question of the runtime to its user.
func (c *lines) isQuestion(i int) bool {
	a := c.read[i].Asked
	return a != nil && !a.Calls
}

// staleRequest asks again, under a new id, what the runtime asked in a turn that has
// ended.
func staleRequest() Operator {
	return Operator{
		Name: "stale-request", Kind: Transparent, Doc: "After the end of a turn, and while the next one runs if lines name their turn, a question of that turn comes again under a new id.",
		places: func(c *lines, _ bool) []int { return slices.Sorted(maps.Keys(c.staleQuestions())) },
		apply: addLine(Fault{NoticeAllowed: true}, func(c *lines, place int) []byte {
			return c.underNewID(c.staleQuestions()[place], StaleRequestID)
		}),
	}
}

// staleQuestions are the places at which a question of a turn that has ended may come,
// and that question of each.
func (c *lines) staleQuestions() map[int]int {
	out := map[int]int{}
	open, ended := map[thread]int{}, map[thread]int{}
	for _, i := range c.outputs() {
		at := c.ofSession(i)
		l := &c.read[i]
		own := l.Agent == "" && (l.Session == "" || l.Session == at.id)
		switch {
		case own && c.isQuestion(i):
			open[at] = i
		case own && l.Kind == wire.TurnEnd:
			delete(ended, at)
			if q, ok := open[at]; ok {
				ended[at], out[i] = q, q
				delete(open, at)
			}
		case own && c.rt.TurnIDs && c.turns[i] != "":
			if q, ok := ended[at]; ok {
				out[i] = q
			}
		}
	}
	return out
}

// underNewID returns a request with another id.
func (c *lines) underNewID(i int, prefix string) []byte {
	b, id := c.wire[i].Bytes, c.read[i].ID
	for _, name := range []string{"id", "request_id"} {
		if at, ok := wire.Member(b, name); ok && bytes.Equal(b[at.From:at.To], id) {
			return slices.Concat(b[:at.From], fmt.Appendf(nil, "%q", fmt.Sprint(prefix, i)), b[at.To:])
		}
	}
	return b
}

// AnswerAfter is how long the client of withdrawn-request waits before it answers.
const AnswerAfter = 5 * time.Second

// withdrawnRequest takes a question back at once, for example because a hook, a rule or
// another client has decided, and is killed some seconds after the client's answer.
func withdrawnRequest() Operator {
	return Operator{
		Name: "withdrawn-request", Kind: Terminal,
		Doc:    fmt.Sprintf("The runtime takes a question back at once. The client answers %v later, and then the process is killed.", AnswerAfter),
		places: func(c *lines, _ bool) []int { return c.lonelyQuestions() },
		apply: func(c *lines, place int) Fault {
			return at(c, place, Fault{AnswerAfter: AnswerAfter}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				w, x := lines[i], fixtures.WireLine{Code: -1, Signal: "SIGKILL", Dir: fixtures.Exit}
				w.Bytes = c.rt.Replies.Withdraw(&c.read[place])
				x.T, x.Line, x.Process = w.T+AnswerAfter+2*time.Second, w.Line, w.Process
				return append(slices.Clone(lines[:i+1]), w, x)
			})
		},
	}
}

// lonelyQuestions are the questions that are asked while no other is open, and that the
// recording's client answers.
func (c *lines) lonelyQuestions() []int {
	if c.rt.Replies.Withdraw == nil {
		return nil
	}
	var places []int
	open := map[string]int{}
	for i := range c.wire {
		switch l := &c.read[i]; {
		case c.wire[i].Dir == fixtures.Out && c.isQuestion(i):
			if len(open) > 0 {
				i = -1 // not alone
			}
			open[string(l.ID)] = i
		case c.wire[i].Dir == fixtures.In && l.Kind == wire.Answer:
			if at, ok := open[string(l.RepliesTo)]; ok && at >= 0 {
				places = append(places, at)
			}
			delete(open, string(l.RepliesTo))
		case l.Kind == wire.Withdrawal:
			delete(open, string(l.RepliesTo))
		}
	}
	return places
}

// unreadableRequest asks about a call that the client cannot read: each member of its
// parameters that is a text or an object is a number.
func unreadableRequest() Operator {
	return Operator{
		Name: "unreadable-request", Kind: Transparent, Selective: true,
		Doc: "After a question of the runtime, or a call of its client's hook, comes another one whose tool and input cannot be read.",
		places: func(c *lines, named bool) []int {
			if !named {
				return nil
			}
			return c.outputsWhere(func(i int) bool { return c.isQuestion(i) || c.read[i].Asked != nil && c.read[i].Asked.Hook != "" })
		},
		apply: addLine(Fault{NoticeAllowed: true}, func(c *lines, place int) []byte {
			return withoutCall(c.rt, c.underNewID(place, UnreadableRequestID))
		}),
	}
}

// withoutCall makes a number of each member of a request that holds a part of a call.
func withoutCall(rt *wire.Runtime, b []byte) []byte {
	for _, path := range rt.Options.CallPaths {
		if at, ok := wire.Member(b, path...); ok {
			b = slices.Concat(b[:at.From], []byte("7"), b[at.To:])
		}
	}
	return b
}

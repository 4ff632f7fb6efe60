package shrink

import (
	"context"
	"slices"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// dropTurns removes turns: the steps from a message to the next, the lines of the wire
// and the requests to the model.
func (s *shrinker) dropTurns(ctx context.Context) {
	for i := range slices.Backward(s.turns()) {
		if all := s.turns(); len(all) > 1 && i < len(all) {
			s.try(ctx, all[i].removed(s.best))
		}
	}
}

// turn is a part of a sample, from a message of the user to the next.
type turn struct {
	message  string
	steps    []int // lines of the scenario's file
	from, to int   // of the wire
	reqs     [2]int
}

// turns returns the turns of the best sample.
func (s *shrinker) turns() []turn {
	var out []turn
	for _, step := range s.best.parsed.Client {
		if step.SendsMessage() {
			out = append(out, turn{message: step.ID})
		}
		if n := len(out); n > 0 && step.Verb != fixtures.VerbClose && step.Verb != fixtures.VerbOpen {
			out[n-1].steps = append(out[n-1].steps, step.Line)
		}
	}
	at, lines := 0, s.best.recorded.Lines()
	for i, l := range lines {
		switch w := s.best.recorded.Wire[i]; {
		case w.Dir == fixtures.In && (l.Kind == wire.Send || l.Kind == wire.Steer) && at < len(out):
			out[at].from, at = i, at+1
		case w.Dir == fixtures.In || w.Dir == fixtures.Out:
		case at > 0 && out[at-1].to == 0: // the process ends
			out[at-1].to = i
		}
		if at > 1 && out[at-2].to == 0 {
			out[at-2].to = out[at-1].from
		}
	}
	if at != len(out) {
		return nil // a message was sent in another way
	}
	for i := range out {
		if out[i].to == 0 {
			out[i].to = len(lines)
		}
		out[i].reqs = requestsOf(s.best.recorded.Witness, out, i)
	}
	return out
}

// requestsOf returns the part of the witness that begins with the message of a turn.
func requestsOf(all []fixtures.Request, turns []turn, i int) [2]int {
	find := func(message string) int {
		return slices.IndexFunc(all, func(q fixtures.Request) bool { return slices.Contains(q.New, message) })
	}
	from := find(turns[i].message)
	if from < 0 {
		return [2]int{}
	}
	to := len(all)
	for _, t := range turns[i+1:] {
		if n := find(t.message); n > from {
			to = n
			break
		}
	}
	return [2]int{from, to}
}

func (t turn) removed(x *sample) *sample {
	out := x.withoutLines(t.steps...)
	out = out.withWire(slices.Delete(slices.Clone(x.recorded.Wire), t.from, t.to))
	return out.withWitness(slices.Delete(slices.Clone(x.recorded.Witness), t.reqs[0], t.reqs[1]))
}

// dropSteps removes steps of the client. A message goes only with its turn: without one
// the lines would have no cause.
func (s *shrinker) dropSteps(ctx context.Context) {
	for i := len(s.best.parsed.Client) - 1; i >= 0; i-- {
		if i < len(s.best.parsed.Client) && !s.best.parsed.Client[i].SendsMessage() {
			s.try(ctx, s.best.withoutLines(s.best.parsed.Client[i].Line))
		}
	}
}

// dropLines removes lines of the wire.
func (s *shrinker) dropLines(ctx context.Context) {
	reduce(s.best.recorded.Wire, func() bool { return s.more(ctx) }, func(rest []fixtures.WireLine) bool {
		return s.try(ctx, s.best.withWire(rest))
	})
}

// dropRequests removes requests of the witness, and parts of their replies.
func (s *shrinker) dropRequests(ctx context.Context) {
	more := func() bool { return s.more(ctx) }
	reduce(s.best.recorded.Witness, more, func(rest []fixtures.Request) bool {
		return s.try(ctx, s.best.withWitness(rest))
	})
	for i := range s.best.recorded.Witness {
		reduce(s.best.recorded.Witness[i].Output, more, func(rest []fixtures.OutputPart) bool {
			requests := slices.Clone(s.best.recorded.Witness)
			requests[i].Output = rest
			return s.try(ctx, s.best.withWitness(requests))
		})
	}
}

// dropReplies removes replies of the scenario's model. A replay does not use them, but
// checks may read them.
func (s *shrinker) dropReplies(ctx context.Context) {
	var lines []int
	for _, replies := range s.best.parsed.Model {
		for _, r := range replies {
			lines = append(lines, r.Line)
		}
	}
	slices.Sort(lines)
	slices.Reverse(lines) // the numbers of the lines before stay
	for _, n := range lines {
		s.try(ctx, s.best.withoutLines(n))
	}
}

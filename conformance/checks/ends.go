package checks

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// endChecks are about how turns begin and what ends them.
func endChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "turn.not-before-end", Severity: conformance.Must, Source: "multica#7554: a turn that ends early", Tiers: []conformance.Tier{conformance.TierWitness}, NeedsLines: true,
			Sentence: "The terminal event does not come before the runtime's own end of that turn.",
			Judge:    judgeNotBeforeEnd,
		},
		{
			ID: "turn.error-is-error", Severity: conformance.Must, Source: "wire/claude: an API error has subtype success", Tiers: both,
			Sentence: "A turn whose last request to the model failed ends in error, with a code.",
			Judge:    judgeErrorIsError,
		},
		{
			ID: "turn.retry-is-not-error", Severity: conformance.Must, Source: "adapters that take a message with willRetry for the end", Tiers: both,
			Sentence: "What the runtime tries again, and brings to its end, is no error.",
			Judge:    judgeRetry,
		},
		{
			ID: "turn.activity-first", Severity: conformance.Should, Source: "user interfaces that look dead until the first word", Tiers: []conformance.Tier{conformance.TierWitness}, NeedsLines: true,
			Sentence: "When a turn has begun, an empty thinking event at once tells that something is going on.",
			Judge:    judgeActivity,
		},
		{
			ID: "turn.steer", Severity: conformance.Must, Source: "wire/codex: turn/steer", Tiers: both,
			Sentence: "A steered message is taken into the turn that runs: user_message says so, and it reaches the model there.",
			Judge:    judgeSteer,
		},
		{
			ID: "wire.no-own-echo", Severity: conformance.Must, Source: "wire/claude: user messages are replayed", Tiers: both,
			Sentence: "An echo of the client's own messages is not taken for the runtime's: each message is told once, with its own words.",
			Judge:    judgeEcho,
			Faults:   []string{"echo-input"}, JudgeFault: judgeHarmless,
		},
	}
}

// judgeNotBeforeEnd: as many turns have ended on the wire as have been told to
// end, unless the process or the session has.
func judgeNotBeforeEnd(t *conformance.Trial, f *conformance.Finding) {
	ends, lines, thread := 0, 0, ""
	others := map[string]bool{}
	gone := false
	for _, e := range t.Events {
		for ; lines < min(e.Line, len(t.Played)); lines++ {
			p := t.Played[lines]
			brought := readLine(t.Runtime, p.Line)
			if brought.opens != "" {
				others[brought.opens] = len(others) > 0
			}
			if thread == "" && !others[brought.thread] {
				thread = brought.thread
			}
			if brought.end && (brought.thread == thread || brought.thread == "") {
				ends++
			}
			gone = gone || p.Line.Dir == fixtures.Exit || p.Line.Dir == fixtures.EOF
		}
		if !e.Terminal() || e.Turn == 0 || e.SubagentID != "" || gone || e.Type() == event.TypeError {
			continue
		}
		if e.Steps > 0 && slices.Contains([]fixtures.Verb{fixtures.VerbClose, fixtures.VerbStop, fixtures.VerbArchive}, t.Steps[e.Steps-1].Step.Verb) {
			continue // the subject may end it by itself
		}
		f.Asserted(1)
		if ends == 0 {
			f.At(e, "turn %d ends in %s, and the runtime has not ended it", e.Turn, describe(e.Data))
			return
		}
		ends--
	}
}

// terminalOf is the terminal event of a turn.
func terminalOf(r *conformance.Run, turn int) (conformance.Event, bool) {
	for _, e := range r.Events {
		if e.Terminal() && e.Turn == turn && e.SubagentID == "" {
			return e, true
		}
	}
	return conformance.Event{}, false
}

func judgeErrorIsError(t *conformance.Trial, f *conformance.Finding) {
	turns := turnsOfRequests(t.Run)
	last := map[int]fixtures.Request{}
	for _, q := range mainRequests(t.Run) {
		last[turns[q.Req]] = q
	}
	for turn, q := range last {
		if turn == 0 || q.Ended != fixtures.EndedFailed || stops(t.Run) {
			continue
		}
		end, ok := terminalOf(t.Run, turn)
		if !ok {
			continue // another check's
		}
		f.Asserted(1)
		switch d, is := end.Data.(event.Error); {
		case !is || d.Code == "":
			f.At(end, "request %d, the last of turn %d, failed, and the turn ends in %s", q.Req, turn, describe(end.Data))
		case d.Message == "":
			f.At(end, "request %d, the last of turn %d, failed, and the error says nothing of why", q.Req, turn)
		}
	}
}

func judgeRetry(t *conformance.Trial, f *conformance.Finding) {
	turns := turnsOfRequests(t.Run)
	reqs := mainRequests(t.Run)
	for i, q := range reqs {
		turn := turns[q.Req]
		if turn == 0 || !slices.Contains(q.New, "retry") || q.Ended != fixtures.EndedComplete || i+1 < len(reqs) && turns[reqs[i+1].Req] == turn {
			continue
		}
		f.Asserted(1)
		for _, e := range t.Events {
			if d, is := e.Data.(event.Error); is && e.Turn == turn && e.SubagentID == "" {
				f.At(e, "turn %d was tried again and went well, and an error is told: %s", turn, describe(d))
			}
		}
	}
}

func judgeActivity(t *conformance.Trial, f *conformance.Finding) {
	for i, e := range t.Events {
		if e.Type() != event.TypeTurnStart || e.SubagentID != "" {
			continue
		}
		f.Asserted(1)
		for _, next := range t.Events[i+1:] {
			if next.Turn != e.Turn || next.SubagentID != "" || next.Type() == event.TypeUserMessage {
				continue
			}
			if d, is := next.Data.(event.Thinking); !is || d.Text != "" || next.At != e.At {
				f.At(next, "turn %d has begun, and the next event is %s, %v later", e.Turn, next.Type(), next.At-e.At)
			}
			break
		}
	}
}

func judgeSteer(t *conformance.Trial, f *conformance.Finding) {
	for i, a := range t.Steps {
		if a.Step.Verb != fixtures.VerbSteer || a.Step.Refused || a.Err != nil {
			continue
		}
		reached := slices.ContainsFunc(t.Witness, func(q fixtures.Request) bool { return slices.Contains(q.New, a.Step.ID) })
		if !reached {
			continue // the turn ended before the model was asked again
		}
		f.Asserted(1)
		f.Sent = t.Tier != conformance.TierLive
		taken := slices.IndexFunc(t.Events, func(e conformance.Event) bool {
			d, is := e.Data.(event.UserMessage)
			return is && d.MessageID == a.Step.ID
		})
		if taken < 0 {
			f.Failf("message %s was steered into the turn, and no user_message tells that it was taken", a.Step.ID)
			continue
		}
		e := t.Events[taken]
		d, _ := e.Data.(event.UserMessage)
		switch {
		case d.Via != event.ViaSteer:
			f.At(e, "message %s was steered, user_message says %q", a.Step.ID, d.Via)
		case e.Turn == 0 || e.Steps <= i:
			f.At(e, "message %s was steered and is told of no turn that runs", a.Step.ID)
		}
	}
}

func judgeEcho(t *conformance.Trial, f *conformance.Finding) {
	words := map[string]string{}
	for _, a := range t.Scenario.Client {
		if a.ID != "" && a.Text != "" {
			words[a.ID] = a.Text
		}
	}
	told := map[string]bool{}
	for _, e := range t.Events {
		d, is := e.Data.(event.UserMessage)
		if !is || e.SubagentID != "" || d.MessageID == "" {
			continue
		}
		f.Asserted(1)
		if told[d.MessageID] {
			f.At(e, "message %s is told a second time", d.MessageID)
		}
		told[d.MessageID] = true
		if want, sent := words[d.MessageID]; sent && d.Text != want {
			f.At(e, "message %s is told as %q, the user said %q", d.MessageID, clip(d.Text), clip(want))
		}
	}
}

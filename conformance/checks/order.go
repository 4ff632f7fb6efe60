package checks

import (
	"bytes"
	"time"

	"github.com/turnspec/turnspec/conformance/judge"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/replay"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

func orderChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "order.seq", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence: "seq counts 1, 2, 3 … within a session, also across resume.",
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				f.Asserted(len(t.Events))
				last := map[string]int64{}
				for _, e := range t.Events {
					if last[e.SessionID]++; e.Seq != last[e.SessionID] {
						f.At(e, "event %d of session %s has seq %d", last[e.SessionID], e.SessionID, e.Seq)
						return
					}
				}
			},
		},
		{
			ID: "replay.equals-live", Severity: conformance.Must, Source: "AgentRecall#503: a stored chat that differs from the live one", Tiers: both,
			Sentence: "Reducing the stored events gives the chat that the live reduction gave, block for block.",
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				if len(t.Events) == 0 || judge.LiveChat(t.Run) == nil {
					return
				}
				stored, err := judge.Chat(t.Run)
				if err != nil {
					f.Asserted(1)
					f.Failf("the events cannot be stored and read back: %v", err)
					return
				}
				for _, m := range judge.LiveChat(t.Run).Messages {
					f.Asserted(len(m.Blocks))
				}
				live, err1 := pretty(judge.LiveChat(t.Run))
				back, err2 := pretty(stored)
				if err1 != nil || err2 != nil {
					f.Failf("the chat cannot be written: %v %v", err1, err2)
					return
				}
				if !bytes.Equal(live, back) {
					f.Diff("the stored chat is not the live one", string(live)+"\n", string(back)+"\n")
				}
			},
		},
		{
			ID: "order.ts", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence: "ts never runs backwards, so that seq alone breaks ties.",
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				last := map[string]time.Time{}
				for _, e := range t.Events {
					f.Asserted(1)
					if e.TS.Before(last[e.SessionID]) {
						f.At(e, "ts is %s, that of the event before %s", e.TS.Format(time.RFC3339Nano), last[e.SessionID].Format(time.RFC3339Nano))
						return
					}
					last[e.SessionID] = e.TS
				}
			},
		},
		{
			ID: "replay.interrupted", Severity: conformance.Must, Source: "chats in which a stopped turn looks finished when it is loaded again", Tiers: both,
			Sentence: "A stopped turn looks stopped when the stored events are reduced again.",
			Judge:    judgeStoredStop,
		},
	}
}

// judgeStoredStop: where the wire told that a stop ended the turn, and not the
// runtime before it.
func judgeStoredStop(t *conformance.Trial, f *conformance.Finding) {
	stopped := false
	for _, a := range t.Steps {
		stopped = stopped || a.Step.Verb == fixtures.VerbStop && a.Err == nil
	}
	cut := false
	for _, q := range mainRequests(t.Run) {
		cut = cut || q.Ended == fixtures.EndedClosed
	}
	if !stopped || !cut {
		return
	}
	f.Asserted(1)
	stored, err := judge.Chat(t.Run)
	if err != nil {
		f.Failf("the events cannot be stored and read back: %v", err)
		return
	}
	for _, m := range stored.Messages {
		if m.Role == replay.RoleAssistant && m.Status == replay.Stopped {
			return
		}
	}
	f.Failf("the model was stopped amid its words, and no message of the stored chat looks stopped")
}

func pretty(v any) ([]byte, error) {
	return json.Marshal(v, jsontext.WithIndent("  "), json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}

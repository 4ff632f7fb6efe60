package checks

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/conformance"
)

func orderChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "order.seq", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence: "seq counts 1, 2, 3 … within a session, also across resume.",
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				f.Look(len(t.Events))
				for i, e := range t.Events {
					if e.Seq != int64(i+1) {
						f.At(e, "event %d has seq %d", i+1, e.Seq)
						return
					}
				}
			},
		},
		{
			ID: "replay.equals-live", Severity: conformance.Must, Source: "AgentRecall#503: a stored chat that differs from the live one", Tiers: both,
			Sentence: "Reducing the stored events gives the chat that the live reduction gave, block for block.",
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				if len(t.Events) == 0 || t.Live == nil {
					return
				}
				stored, err := t.Chat()
				if err != nil {
					f.Look(1)
					f.Failf("the events cannot be stored and read back: %v", err)
					return
				}
				for _, m := range t.Live.Messages {
					f.Look(len(m.Blocks))
				}
				live, err1 := pretty(t.Live)
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
	}
}

func pretty(v any) ([]byte, error) {
	return json.Marshal(v, jsontext.WithIndent("  "), json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}

// stripped are the events without what a second run may change: seq and ts, and
// ids that the subject or the play chose.
func stripped(r *conformance.Run) []string {
	out := make([]string, 0, len(r.Events))
	defer func() { copy(out, strings.Split(r.Recorded(strings.Join(out, "\n")), "\n")) }()
	for _, e := range r.Events {
		data, err := json.Marshal(e.Data, json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
		if err != nil {
			data = []byte(err.Error())
		}
		line, _ := json.Marshal(struct {
			Type string         `json:"type"`
			Turn int            `json:"turn,omitzero"`
			Sub  string         `json:"subagent_id,omitzero"`
			Data jsontext.Value `json:"data"`
		}{string(e.Type()), e.Turn, e.SubagentID, data})
		out = append(out, string(line))
	}
	return out
}

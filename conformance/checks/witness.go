package checks

import (
	"maps"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// piece is a block of text that the model said, as it must stay.
type piece struct {
	text   string
	prefix bool // the runtime hung up: what it passed on is a prefix
	req    int
}

// kept are the texts of the main agent that must stay, in order. What was
// abandoned and said again is not among them.
func kept(r *conformance.Run) []piece {
	var out []piece
	reqs := mainRequests(r)
	for i, q := range reqs {
		if slices.Contains(q.New, "compact") {
			continue // a summary is for the model
		}
		for j, s := range q.Said {
			if s.Text == "" || abandoned(reqs, i) && broken(q, j) {
				continue
			}
			text := s.Text
			if r.Scenario.Asking() == "plan" {
				text = untagged(text)
			}
			out = append(out, piece{text, loose(q, j) && !held(r, s.Text), q.Req})
		}
	}
	return out
}

// untagged takes out the tags around a plan, as a runtime that plans does: it
// tells the plan apart from the message.
func untagged(text string) string {
	return strings.NewReplacer("<proposed_plan>\n", "", "</proposed_plan>\n", "", "</proposed_plan>", "").Replace(text)
}

// broken reports whether a reply ended amid one of its parts.
func broken(q fixtures.Request, part int) bool {
	return q.Said[part].Open || q.Ended == fixtures.EndedClosed && part == len(q.Said)-1
}

// loose reports whether no more than a prefix of a part need be there: a client
// may lose what it had not read when the connection broke, and may take back
// what it will not hear the end of.
func loose(q fixtures.Request, part int) bool {
	switch q.Ended {
	case fixtures.EndedClosed:
		return broken(q, part)
	case fixtures.EndedCut, fixtures.EndedFailed:
		return true
	}
	return false
}

// abandoned reports whether a reply was broken off and asked for again.
func abandoned(reqs []fixtures.Request, i int) bool {
	switch reqs[i].Ended {
	case fixtures.EndedCut, fixtures.EndedFailed, fixtures.EndedClosed:
		return i+1 < len(reqs) && slices.Contains(reqs[i+1].New, "retry")
	}
	return false
}

func mainRequests(r *conformance.Run) []fixtures.Request {
	var out []fixtures.Request
	for _, q := range r.Witness {
		if q.Agent == "" {
			out = append(out, q)
		}
	}
	return out
}

// held reports whether the text was said before a hold, and not the last of a
// broken reply: the recording went on only when all of it was on the wire, so
// that no prefix will do.
func held(r *conformance.Run, text string) bool {
	for _, reply := range r.Scenario.Model[""] {
		var said strings.Builder
		n := len(reply.Parts)
		fails := n > 0 && (reply.Parts[n-1].Fail != nil || reply.Parts[n-1].Cut || reply.Parts[n-1].Close)
		for _, p := range reply.Parts {
			said.WriteString(strings.Join(p.Text, ""))
			if p.Hold != "" && !fails && said.String() == text {
				return true
			}
		}
	}
	return false
}

// block is a block of text as the subject's events leave it.
type block struct {
	id        string
	turn      int
	text      strings.Builder
	retracted bool
	first     conformance.Event
}

// blocks are the text blocks of the main agent, in order of their first delta.
func blocks(r *conformance.Run) []*block {
	var out []*block
	byID := map[string]*block{}
	own := ownTurns(r)
	for _, e := range r.Events {
		if e.SubagentID != "" || own[e.Turn] {
			continue
		}
		switch d := e.Data.(type) {
		case event.Delta:
			b := byID[d.BlockID]
			if b == nil {
				b = &block{id: d.BlockID, turn: e.Turn, first: e}
				byID[d.BlockID] = b
				out = append(out, b)
			}
			b.text.WriteString(d.Text)
		case event.BlockEnd:
			b := byID[d.BlockID]
			switch {
			case b == nil:
			case d.Status == event.BlockRetracted:
				b.retracted = true
			case d.Status == event.BlockReplaced:
				b.text.Reset()
				b.text.WriteString(d.Text)
			}
		}
	}
	return out
}

// ownTurns are the turns of commands that the runtime answers by itself: the
// model never saw the message, and what is said there is not its text.
func ownTurns(r *conformance.Run) map[int]bool {
	commands := map[string]bool{}
	for _, a := range r.Scenario.Client {
		if a.Verb == fixtures.VerbSend && strings.HasPrefix(a.Text, "/") {
			commands[a.ID] = true
		}
	}
	for _, q := range r.Witness {
		for _, id := range q.New {
			delete(commands, id)
		}
	}
	out := map[int]bool{}
	for _, e := range r.Events {
		if d, ok := e.Data.(event.TurnStart); ok && len(d.MessageIDs) > 0 && commands[d.MessageIDs[0]] {
			out[e.Turn] = true
		}
	}
	return out
}

// shown is the text of the main agent that stays, joined without breaks.
func shown(r *conformance.Run) string {
	var b strings.Builder
	for _, x := range blocks(r) {
		if !x.retracted {
			b.WriteString(x.text.String())
		}
	}
	return b.String()
}

// expected is the text that must stay, given what the subject showed: a piece
// of which only a prefix must be there counts as far as it was shown.
func expected(r *conformance.Run, got string) string {
	var want strings.Builder
	for _, p := range kept(r) {
		if !p.prefix {
			want.WriteString(p.text)
			continue
		}
		rest := ""
		if n := want.Len(); n <= len(got) {
			rest = got[n:]
		}
		n := 0
		for n < len(rest) && n < len(p.text) && rest[n] == p.text[n] {
			n++
		}
		want.WriteString(p.text[:n])
	}
	return want.String()
}

// saidTool is a tool call of the main agent.
type saidTool struct {
	fixtures.Said
	req    int
	hidden bool
}

// saidTools are the tool calls that the model made, but for those of a reply
// that was abandoned.
func saidTools(r *conformance.Run) []saidTool {
	var out []saidTool
	reqs := mainRequests(r)
	for i, q := range reqs {
		if q.Ended == fixtures.EndedFailed || abandoned(reqs, i) {
			continue
		}
		for _, s := range q.Said {
			if s.Tool != "" {
				out = append(out, saidTool{s, q.Req, r.Scenario.HiddenOn(r.Runtime, r.Version, s.ID)})
			}
		}
	}
	return out
}

// allTools are the tool calls of all agents.
func allTools(r *conformance.Run) []fixtures.Said {
	var out []fixtures.Said
	for _, q := range r.Witness {
		for _, s := range q.Said {
			if s.Tool != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// isTool reports whether a subject's tool id is that of the scenario's call:
// the model's id with the prefix that its API wants.
func isTool(subjectID, scenarioID string) bool {
	return subjectID == scenarioID || subjectID == "toolu_"+scenarioID || subjectID == "call_"+scenarioID || subjectID == "ws_"+scenarioID
}

// toolResults are what the runtime sent back to the model, by the scenario's id.
func toolResults(r *conformance.Run) map[string]string {
	out := map[string]string{}
	for _, q := range r.Witness {
		maps.Copy(out, q.Results)
	}
	return out
}

// turnsOf are the turns that the events name, in order of appearance.
func turnsOf(r *conformance.Run) []int {
	var out []int
	for _, e := range r.Events {
		if e.Turn > 0 && !slices.Contains(out, e.Turn) {
			out = append(out, e.Turn)
		}
	}
	return out
}

// has reports whether the scenario's client does this.
func has(r *conformance.Run, verb fixtures.Verb) bool { return count(r, verb) > 0 }

func count(r *conformance.Run, verb fixtures.Verb) int {
	n := 0
	for _, a := range r.Scenario.Client {
		if a.Verb == verb {
			n++
		}
	}
	return n
}

package runindex

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// NoAgent reports whether a name of the witness is of no agent: it is AsideThread,
// or a search that the runtime made in a separate request.
func NoAgent(agent string) bool { return agent == AsideThread || agent == "search" }

func subagents(r *conformance.Run) []string {
	var out []string
	for _, q := range r.Witness {
		if q.Agent != "" && !NoAgent(q.Agent) && !slices.Contains(out, q.Agent) {
			out = append(out, q.Agent)
		}
	}
	return out
}

// TurnsOfRequests returns the turn of each request to the model, by the messages
// that the request brings; 0 if it is not known.
func TurnsOfRequests(r *conformance.Run) map[int]int {
	taken := map[string]int{}
	for _, e := range r.Events {
		switch d := e.Data.(type) {
		case event.TurnStart:
			for _, id := range d.MessageIDs {
				taken[id] = e.Turn
			}
		case event.UserMessage:
			if e.Turn > 0 {
				taken[d.MessageID] = e.Turn
			}
		}
	}
	out := map[int]int{}
	turn := 0
	for _, q := range Requests(r) {
		for _, id := range q.New {
			switch n, ok := taken[id]; {
			case ok:
				turn = n
			case !strings.HasPrefix(id, "result:") && id != "retry":
				turn = 0
			}
		}
		out[q.Req] = turn
	}
	return out
}

// Segment is a block of text of the model that must stay.
type Segment struct {
	Text   string
	Prefix bool // a prefix of it is enough: the connection broke
	Parted bool // the wire may show it as more than one block
	Req    int
}

// ExpectedSegments returns the texts of the main agent that must stay, in order.
// Text of a reply that the runtime abandoned and requested again is not among
// them.
func ExpectedSegments(r *conformance.Run) []Segment {
	var out []Segment
	reqs := Requests(r)
	for i, q := range reqs {
		if slices.Contains(q.New, "compact") {
			continue // a summary is for the model
		}
		for j, s := range q.Output {
			if s.Text == "" || Abandoned(reqs, i) && CutShort(q, j) {
				continue
			}
			text := s.Text
			if r.Scenario.InitialMode() == "plan" {
				text = withoutPlanTags(text)
			}
			out = append(out, Segment{
				Text: text, Prefix: allowsPrefix(q, j) && !givenBack(reqs, i) && !reachedWire(r, s.Text), Req: q.Req,
				Parted: text != s.Text || hasEmptyDelta(r, s.Text) && RecordedShows(r, func(l *wire.Line) bool { return l.Piece.MayBegin }),
			})
		}
	}
	return out
}

// hasEmptyDelta reports whether the model wrote a text with an empty delta.
func hasEmptyDelta(r *conformance.Run, text string) bool {
	for _, reply := range r.Scenario.Model[""] {
		for _, p := range reply.Parts {
			if slices.Contains(p.Text, "") && strings.Join(p.Text, "") == text {
				return true
			}
		}
	}
	return false
}

// planTags are the tags by which a model marks a plan in its text.
var planTags = regexp.MustCompile(`<[a-z_]+>\n|</[a-z_]+>\n?`)

// withoutPlanTags removes the tags around a plan: a runtime in plan mode reports
// the plan separately from the message.
func withoutPlanTags(text string) string { return planTags.ReplaceAllString(text, "") }

// CutShort reports whether a reply ended within one of its parts.
func CutShort(q fixtures.Request, part int) bool {
	return q.Output[part].Unfinished || q.Ended == fixtures.EndedClosed && part == len(q.Output)-1
}

// allowsPrefix reports whether a prefix of a part is enough: a client may lose what
// it had not read when the connection broke, and may retract a block whose end
// will not come.
func allowsPrefix(q fixtures.Request, part int) bool {
	switch q.Ended {
	case fixtures.EndedClosed:
		return CutShort(q, part)
	case fixtures.EndedCut, fixtures.EndedFailed:
		return true
	}
	return false
}

// Abandoned reports whether a reply broke off and was requested again.
func Abandoned(reqs []fixtures.Request, i int) bool {
	switch reqs[i].Ended {
	case fixtures.EndedCut, fixtures.EndedFailed, fixtures.EndedClosed:
		return i+1 < len(reqs) && slices.Contains(reqs[i+1].New, "retry")
	}
	return false
}

// givenBack reports whether the runtime gave the model the text of a reply that broke off back,
// so that the next reply goes on after it. Such a text stays, whole.
func givenBack(reqs []fixtures.Request, i int) bool {
	return reqs[i].Ended == fixtures.EndedCut && i+1 < len(reqs) && slices.Contains(reqs[i+1].New, "again")
}

// Requests returns the requests of the main agent to the model.
func Requests(r *conformance.Run) []fixtures.Request { return Of(r).requests }

func requests(r *conformance.Run) []fixtures.Request {
	var out []fixtures.Request
	for _, q := range r.Witness {
		if q.Agent == "" {
			out = append(out, q)
		}
	}
	return out
}

// reachedWire reports whether a text comes before a hold, and is not the last of a
// reply that fails. The recording continued only when all of it was on the wire, so
// a prefix is not enough.
func reachedWire(r *conformance.Run, text string) bool {
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

// ExpectedText returns the text that must stay, given the text that the subject
// shows: of a segment that allows a prefix it takes as much as the subject shows.
func ExpectedText(r *conformance.Run, got string) string {
	var want strings.Builder
	for _, p := range ExpectedSegments(r) {
		if !p.Prefix {
			want.WriteString(p.Text)
			continue
		}
		rest := ""
		if n := want.Len(); n <= len(got) {
			rest = got[n:]
		}
		n := 0
		for n < len(rest) && n < len(p.Text) && rest[n] == p.Text[n] {
			n++
		}
		want.WriteString(p.Text[:n])
	}
	return want.String()
}

// Call is a tool call that the model made.
type Call struct {
	fixtures.OutputPart
	Hidden bool // the runtime does not show it
}

// Calls returns the tool calls of the main agent, without those of abandoned
// replies.
func Calls(r *conformance.Run) []Call {
	var out []Call
	reqs := Requests(r)
	for i, q := range reqs {
		if q.Ended == fixtures.EndedFailed || Abandoned(reqs, i) {
			continue
		}
		for _, s := range q.Output {
			if s.Tool != "" {
				out = append(out, Call{s, r.Scenario.HiddenOn(r.Runtime, r.Version, s.ID)})
			}
		}
	}
	return out
}

// AllCalls returns the tool calls of all agents.
func AllCalls(r *conformance.Run) []fixtures.OutputPart {
	var out []fixtures.OutputPart
	for _, q := range r.Witness {
		for _, s := range q.Output {
			if s.Tool != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// ToolResults returns what the runtime sent back to the model, by the scenario's
// id of the call.
func ToolResults(r *conformance.Run) map[string]string {
	out := map[string]string{}
	for _, q := range r.Witness {
		maps.Copy(out, q.Results)
	}
	return out
}

// ResultsWritten returns the results that a subject which runs the turns itself sent to the model,
// by the scenario's id of the call.
func ResultsWritten(t *conformance.Trial) map[string]string {
	rt, out := Runtime(t.Run), map[string]string{}
	for _, w := range t.ClientActions {
		in := rt.ReadInput([]byte(t.Recorded(string(w.Bytes))))
		if in.Step == nil {
			continue
		}
		for _, e := range in.Step.History {
			if e.Role == wire.RoleResult {
				out[rt.ScenarioCall(e.ID)] = e.Text
			}
		}
	}
	return out
}

// AsideThread is the witness's name of a thread that a client opened in
// addition to the session's.
const AsideThread = "aside"

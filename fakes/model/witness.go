package model

import (
	"maps"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
)

// request is a request of a runtime, by either API.
type request struct {
	stream     bool
	thread     string // the runtime's id of the conversation or sub-agent
	name       string // the runtime's name of the agent
	sub        bool   // marked as a sub-agent's
	maySub     bool   // it has no mark: its text decides
	turn       string // the runtime's id of the turn; "" if it sends none
	texts      []string
	replies    []string // the texts of the model that it repeats, if it sends the turn
	results    []result
	instructed bool // it holds the scenario's instructions
	effort     string
	extraDirs  int
	workspace  []string
	files      int  // pictures and documents in messages of the user
	notes      int  // how many notes about tasks that ended
	compact    bool // asks for a summary
	form       bool // asks for structured output
	title      bool // asks for a title of the conversation, and offers no tool
	usage      bool // asks for usage in the stream
	search     bool // asks for a search of the web, and offers nothing else
	prefix     string
	offer      offer
	model      string
}

// result is the result of a tool.
type result struct{ call, text string }

// offer is the tools that a request offers.
type offer struct {
	tools       []offered
	deferred    []string          // tools or namespaces that the runtime names in a message
	agents      map[string]string // the runtime's ids of sub-agents, by name
	resultTexts map[string]string // the results of calls, by the scenario's id
}

type offered struct {
	kind      string // function, custom, web_search …; "" on Anthropic's API
	namespace string
	name      string
	members   map[string]string // of its input, with their descriptions; chat completions only
}

// names are the tools that are offered, and those that are held back.
func (o offer) names() []string {
	var out []string
	for _, t := range o.tools {
		out = append(out, t.name)
	}
	return append(out, o.deferred...)
}

// findTool returns the first of the tools that is offered.
func (o offer) findTool(names ...string) (offered, bool) {
	for _, n := range names {
		for _, t := range o.tools {
			if t.name == n {
				return t, true
			}
		}
	}
	for _, n := range names {
		if slices.Contains(o.deferred, n) {
			return offered{kind: "function", name: n}, true
		}
	}
	return offered{}, false
}

func (o offer) String() string {
	var names []string
	for _, t := range o.tools {
		switch {
		case t.namespace != "":
			names = append(names, t.namespace+"."+t.name)
		case t.name == "":
			names = append(names, t.kind)
		default:
			names = append(names, t.name)
		}
	}
	for _, d := range o.deferred {
		names = append(names, d+" (deferred)")
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// exchange is a request and its reply. All is guarded by the server's mu.
type exchange struct {
	fixtures.Request
	before *exchange // the request of this agent before it
	turn   string    // the runtime's id of its turn, or ""
	line   *line     // what answers it; nil if it is refused
	said   []*part

	refusal error // why it is not answered
	aside   bool  // see Options.Aside
}

// part is a part of a reply; text grows with each delta.
type part struct {
	fixtures.OutputPart
	think bool
	open  bool // not closed yet
	text  strings.Builder
}

// request returns the exchange as the witness stores it.
func (x *exchange) request() fixtures.Request {
	r := x.Request
	r.New, r.History, r.Results = slices.Clone(r.New), slices.Clone(r.History), maps.Clone(r.Results)
	r.Output = nil
	for _, p := range x.said {
		s := p.OutputPart
		s.Unfinished = p.open && (x.Ended == fixtures.EndedCut || x.Ended == fixtures.EndedFailed)
		switch {
		case s.Tool != "":
		case p.text.Len() == 0: // an empty block is left out
			continue
		case p.think:
			s.Think = p.text.String()
		default:
			s.Text = p.text.String()
		}
		r.Output = append(r.Output, s)
	}
	return r
}

// dropped reports whether the runtime asks again in the same turn and has dropped the
// last text of a complete reply: a message came into the turn before it had read the
// reply.
func (x *exchange) dropped(q *request) bool {
	if x.turn == "" || x.turn != q.turn || q.compact || x.Ended != fixtures.EndedComplete || len(x.said) == 0 || slices.Contains(x.New, "compact") {
		return false
	}
	last := x.said[len(x.said)-1]
	return last.Tool == "" && !last.think && last.text.Len() > 0 && !slices.Contains(q.replies, last.text.String())
}

// kept reports whether a request gives the model its unfinished text back: the runtime does
// not ask for the reply again, but for what follows it.
func (x *exchange) kept(q *request) bool {
	if x.Ended != fixtures.EndedCut || len(x.said) == 0 {
		return false
	}
	last := x.said[len(x.said)-1]
	return last.Tool == "" && !last.think && last.text.Len() > 0 && slices.Contains(q.replies, last.text.String())
}

// soFar returns the text and the reasoning so far: all deltas, joined.
func (x *exchange) soFar() (text, reasoning string) {
	for _, p := range x.said {
		if p.think {
			reasoning += p.text.String()
		} else {
			text += p.text.String()
		}
	}
	return text, reasoning
}

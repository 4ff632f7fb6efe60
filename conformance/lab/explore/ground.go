package explore

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// Ground is a version of a runtime as scenarios are composed for it: its abilities, and what
// its recordings show of the order in which it does things.
type Ground struct {
	name, version string

	asksAboutEach   bool // in mode ask, about harmless commands too
	asksTogether    bool // about all calls of a reply before one of them is answered
	beginsTaskTurns bool // a turn begins when background work ends
	continuesCut    bool // after a cut stream it keeps whole blocks and asks for the rest
	hasPhases       bool // its text has phases and a final form, its reasoning a raw one
	hostsSearch     bool // a search is within the reply of the model, and no call
	stopsIdle       bool // a stop is possible while no turn runs
	stopsTwice      bool // a second stop is possible while the first is under way
	hides           map[callForm]bool
	otherModel      string // the value of a change of the model; "" if there is none

	can map[choiceIn]bool // see Ground.allows
}

// callForm is a form of call that a wire may not show.
type callForm string

const (
	formWrong callForm = "a call that cannot be read has no item"
	formOpen  callForm = "a call is no item before its input is whole"
	formPlan  callForm = "the list is a notification and no item"
)

// NewGround learns how a version of a runtime performs scenarios from the recordings of a corpus.
// If the corpus has none of that version, or version is "", it takes those of the newest one.
func NewGround(corpus fixtures.Corpus, name, version string) (*Ground, error) {
	versions, err := corpus.Versions(name)
	if err != nil {
		return nil, err
	}
	recorded := version
	if len(versions) > 0 && !slices.Contains(versions, version) {
		recorded = versions[0]
	}
	if version == "" {
		version = recorded
	}
	cases, err := corpus.CasesOf(name, recorded)
	if err != nil {
		return nil, err
	}
	g := &Ground{name: name, version: version, hides: map[callForm]bool{}, can: map[choiceIn]bool{}}
	votes := ballots{}
	for _, c := range cases {
		s, err := corpus.LoadScenario(c.Scenario)
		if err != nil {
			return nil, err
		}
		g.learn(votes, s, c)
	}
	g.asksAboutEach, g.hostsSearch = votes["asks"] > 0, votes["hosts a search"] > 0
	g.continuesCut = votes["repeats a cut reply"] == 0
	for _, form := range []callForm{formWrong, formOpen, formPlan} {
		g.hides[form] = votes[string(form)] > 0
	}
	return g, nil
}

// ballots count, for what recordings show in different ways, how many more show it.
type ballots map[string]int

func (b ballots) vote(what string, yes bool) {
	if yes {
		b[what]++
	} else {
		b[what]--
	}
}

// learn takes what a recording shows.
func (g *Ground) learn(votes ballots, s *fixtures.Scenario, c *fixtures.Case) {
	for i, a := range s.Client {
		var before fixtures.Step
		if i > 0 {
			before = s.Client[i-1]
		}
		waited := before.Verb == fixtures.VerbWait
		switch {
		case a.Refused:
		case a.Verb == fixtures.VerbStop && a.What == "":
			g.stopsTwice = g.stopsTwice || before.Verb == fixtures.VerbStop && before.What == ""
			g.stopsIdle = g.stopsIdle || waited && (before.What == "idle" || before.What == "end")
		case a.Verb == fixtures.VerbWait && a.What == "ask":
			g.asksTogether = g.asksTogether || waited && before.What == "ask" && runs(s, a.ID) && runs(s, before.ID)
		case a.Verb == fixtures.VerbSet && a.What == "model":
			if v := a.ValueFor(g.name, c.Version); v != a.Text {
				g.otherModel = v
			}
		}
	}
	for _, q := range c.Witness {
		g.beginsTaskTurns = g.beginsTaskTurns || slices.Contains(q.New, "task")
	}
	replies := s.Model[""]
	for i, r := range replies {
		g.learnReply(votes, s, c, r)
		if i+1 < len(replies) && replies[i+1].Retry && cutAfterBlock(r) {
			votes["repeats a cut reply"]++
		}
	}
}

// cutAfterBlock reports whether a reply breaks off after a whole block, and calls no tool.
func cutAfterBlock(r fixtures.Reply) bool {
	blocks, cut := 0, false
	for _, p := range r.Parts {
		switch {
		case p.Tool != nil:
			return false
		case p.Think != nil, p.Text != nil:
			blocks++
		}
		cut = cut || p.Cut
	}
	return cut && blocks > 1
}

// runs reports whether a call of the main agent runs a command.
func runs(s *fixtures.Scenario, call string) bool {
	return slices.ContainsFunc(s.Model[""], func(r fixtures.Reply) bool {
		return slices.ContainsFunc(r.Parts, func(p fixtures.Part) bool { return p.Tool != nil && p.Tool.ID == call && p.Tool.Tool == "shell" })
	})
}

func (g *Ground) learnReply(votes ballots, s *fixtures.Scenario, c *fixtures.Case, r fixtures.Reply) {
	for _, p := range r.Parts {
		g.hasPhases = g.hasPhases || p.Form.Phase != "" && shows(c, p.Form.Phase)
		t := p.Tool
		if t == nil {
			continue
		}
		hidden := s.HiddenOn(g.name, c.Version, t.ID)
		switch {
		case t.Unfinished && slices.ContainsFunc(r.Parts, func(p fixtures.Part) bool { return p.Cut }):
		case t.Unfinished:
			votes.vote(string(formOpen), hidden)
		case t.InvalidInput != "":
			votes.vote(string(formWrong), hidden)
		case t.Tool == "todo":
			votes.vote(string(formPlan), hidden)
		case t.Tool == "web":
			votes.vote("hosts a search", !slices.ContainsFunc(c.Witness, func(q fixtures.Request) bool { return slices.Contains(q.New, "result:"+t.ID) }))
		case t.Tool == "shell" && s.InitialMode() == "ask" && harmless(t.Input):
			votes.vote("asks", asked(c, t.ID))
		}
	}
}

// shows reports whether a line of the runtime holds a value.
func shows(c *fixtures.Case, value string) bool {
	quoted := []byte(strconv.Quote(value))
	return slices.ContainsFunc(c.Wire, func(w fixtures.WireLine) bool { return w.Dir == fixtures.Out && bytes.Contains(w.Bytes, quoted) })
}

// asked reports whether the runtime asked about a call.
func asked(c *fixtures.Case, call string) bool {
	rt := runtimes.Find(c.Runtime)
	return slices.ContainsFunc(c.Lines(), func(l fixtures.Line) bool {
		return l.Kind == wire.Request && !l.Asked.Calls && call == rt.ScenarioCall(cmp.Or(l.Asked.Tool, l.Item))
	})
}

// harmless reports whether a command only prints something.
func harmless(input []byte) bool {
	var in struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(input, &in) // another input is no command
	program, _, _ := strings.Cut(in.Command, " ")
	return slices.Contains([]string{"echo", "cat", "head", "ls", "wc"}, program) && !strings.ContainsAny(in.Command, ">$`&|")
}

// has reports whether the runtime has an ability.
func (g *Ground) has(ability string) bool {
	rt := runtimes.Find(g.name)
	return rt == nil || rt.LackOf(g.version, ability) == ""
}

// lacks reports whether the runtime lacks an ability that the scenario of a composer needs.
func (g *Ground) lacks(c *composer) bool {
	s, err := Parse(c.format(Plan{}))
	return err != nil || slices.ContainsFunc(s.Abilities(), func(ability string) bool { return !g.has(ability) })
}

// choiceIn is a move with its seed, in a permission mode.
type choiceIn struct {
	move, mode string
	seed       uint32
}

// allows reports whether the runtime has what the scenario of a move needs.
func (g *Ground) allows(m move, mode string, seed uint32) bool {
	key := choiceIn{m.name, mode, seed}
	can, have := g.can[key]
	if !have {
		can = !g.lacks(probe(g, m, mode, seed))
		g.can[key] = can
	}
	return can
}

// probe composes a scenario of one move.
func probe(g *Ground, m move, mode string, seed uint32) *composer {
	c := newComposer(g, mode)
	c.rng = newRand("send", 0)
	c.send("send")
	compose := func() {
		c.rng = newRand(m.name, uint64(seed))
		m.compose(c)
	}
	switch {
	case slices.ContainsFunc(grammar, m.is):
		c.addReply(textPart("Ready."))
		c.endTurn()
		compose()
	case slices.ContainsFunc(endings, m.is):
		compose()
	default:
		compose()
		answer(c)
	}
	c.finishTasks()
	return c
}

// modesOf are the permission modes that the runtime has.
func (g *Ground) modesOf() []mode {
	return slices.DeleteFunc(slices.Clone(modes), func(m mode) bool { return g.lacks(opened(g, m.name)) })
}

func opened(g *Ground, mode string) *composer {
	c := newComposer(g, mode)
	c.rng = newRand("send", 0)
	c.send("send")
	answer(c)
	return c
}

// Runtimes returns the names of the runtimes for which scenarios can be composed.
func Runtimes() []string {
	names := runtimes.Names()
	slices.Sort(names)
	return names
}

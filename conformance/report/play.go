package report

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// maxText bounds a text of the chat, and an event or wire line that is not stored whole,
// in bytes.
const maxText = 2 << 10

// Wire lines and events of at most maxWhole bytes are stored whole, until all of a play
// that are longer than maxText take more than maxWholeOfPlay.
const (
	maxWhole       = 64 << 10
	maxWholeOfPlay = 512 << 10
)

// clipper shortens the texts of a play.
type clipper struct{ used int }

func (c *clipper) clip(s string) (string, int) {
	if n := len(s); n > maxText && n <= maxWhole && c.used+n <= maxWholeOfPlay {
		c.used += n
		return conformance.Printable(strings.ToValidUTF8(s, "\uFFFD")), 0
	}
	return clipText(s)
}

// maxFaulty bounds the plays with a fault that are stored for one verdict.
const maxFaulty = 3

// Play is one run of a case against a subject.
type Play struct {
	Case     string               `json:"case"`
	Subject  string               `json:"subject"`
	Live     bool                 `json:"live,omitzero"` // with the real runtime
	Fault    *Fault               `json:"fault,omitempty"`
	Intent   string               `json:"intent,omitempty"`
	File     string               `json:"file,omitempty"`     // of the case
	Scenario string               `json:"scenario,omitempty"` // its file
	Steps    []Step               `json:"steps,omitempty"`
	Wire     []Wire               `json:"wire,omitempty"`
	Events   []Event              `json:"events,omitempty"`
	Chat     []conformance.Bubble `json:"chat,omitempty"`
	Hang     string               `json:"hang,omitempty"`
	// Programs are what the programs of the subject left behind, one for each session.
	Programs   []Program `json:"programs,omitempty"`
	Unrecorded []string  `json:"unrecorded,omitempty"`
	Violations []string  `json:"violations,omitempty"`
}

// Program is the end of a program.
type Program struct {
	Stderr string `json:"stderr,omitempty"` // its last lines
	Exit   string `json:"exit,omitempty"`
}

// Step is a step of the scenario.
type Step struct {
	At    int64  `json:"at_ns"`
	Line  int    `json:"line,omitzero"` // of the scenario's file
	Verb  string `json:"verb"`
	Text  string `json:"text,omitempty"`
	Error string `json:"error,omitempty"`
}

// Wire is a line that was played.
type Wire struct {
	At   int64  `json:"at_ns"`
	Line int    `json:"line,omitzero"` // of the case's file; 0 if a fault added it
	Dir  string `json:"dir"`
	Text string `json:"text,omitempty"`
	Size int    `json:"size,omitzero"` // of the whole line, if Text was cut
}

// Event is an event that the subject emitted.
type Event struct {
	At    int64  `json:"at_ns"`
	Seq   int64  `json:"seq"`
	Wire  int    `json:"wire"` // number of lines that had been played
	Type  string `json:"type"`
	Turn  int    `json:"turn,omitzero"`
	Agent string `json:"subagent,omitempty"`
	Text  string `json:"text,omitempty"` // the data as JSON
	Size  int    `json:"size,omitzero"`
}

type playKey struct {
	name, subject, operator string
	live                    bool
	place                   int
}

func (p *Play) playKey() playKey {
	k := playKey{name: p.Case, subject: p.Subject, live: p.Live}
	if p.Fault != nil {
		k.operator, k.place = p.Fault.Operator, p.Fault.Place
	}
	return k
}

// newPlays returns the plays of a verdict that are not in taken: the one without a
// fault, and those with the faults that its problems name.
func newPlays(r conformance.Result, taken map[playKey]bool, draw func(*conformance.Run) []conformance.Bubble) []Play {
	if r.Trial == nil || r.Trial.Run == nil {
		return nil
	}
	runs := []*conformance.Run{r.Trial.Run}
	for _, p := range r.Problems {
		for _, h := range r.Trial.Faulted {
			if p.Fault != nil && h.Fault == p.Fault && runs[len(runs)-1] != h && len(runs) <= maxFaulty {
				runs = append(runs, h)
			}
		}
	}
	var out []Play
	for _, run := range runs {
		k := playKey{name: r.Case, subject: r.Subject, live: run.Tier == conformance.TierLive}
		if run.Fault != nil {
			k.operator, k.place = run.Fault.Operator, run.Fault.Place
		}
		if !taken[k] {
			taken[k] = true
			out = append(out, newPlay(r, run, draw))
		}
	}
	return out
}

func newPlay(r conformance.Result, run *conformance.Run, draw func(*conformance.Run) []conformance.Bubble) Play {
	p := Play{
		Case: r.Case, Subject: r.Subject, Live: run.Tier == conformance.TierLive, Hang: clipLines(conformance.Printable(run.Hang), 24),
		Unrecorded: run.Unrecorded, Violations: run.Violations,
	}
	for _, x := range run.Program {
		if x != (conformance.ProgramOutput{}) {
			p.Programs = append(p.Programs, Program{conformance.Printable(x.Stderr), x.Exit})
		}
	}
	if h := run.Fault; h != nil {
		p.Fault = &Fault{h.Operator, string(h.Kind), h.Place, h.Line}
	}
	if run.Scenario != nil {
		p.Intent, p.Scenario = strings.Join(strings.Fields(run.Scenario.Intent), " "), run.Scenario.File
	}
	if run.Case != nil {
		p.File = run.Case.File
	}
	for _, a := range run.Steps {
		x := Step{At: int64(a.At), Line: a.Step.Line, Verb: string(a.Step.Verb), Text: stepText(a.Step)}
		if a.Err != nil {
			x.Error = conformance.Printable(a.Err.Error())
		}
		p.Steps = append(p.Steps, x)
	}
	var lines clipper
	for _, l := range run.Played {
		x := Wire{At: int64(l.At), Line: l.Line.Line, Dir: string(l.Line.Dir)}
		if s := lineText(l.Line); s != x.Dir {
			x.Text, x.Size = lines.clip(s)
		}
		p.Wire = append(p.Wire, x)
	}
	for _, e := range run.Events {
		p.Events = append(p.Events, newEvent(run, e, &lines))
	}
	if draw != nil {
		for _, b := range draw(run) {
			b.Text, b.Size = clipText(b.Text)
			p.Chat = append(p.Chat, b)
		}
	}
	return p
}

// newEvent converts an event. Its ids are those of the recording, so that they match
// the wire and other runs.
func newEvent(run *conformance.Run, e conformance.Event, texts *clipper) Event {
	x := Event{At: int64(e.At), Seq: e.Seq, Wire: e.Line, Turn: e.Turn, Type: string(e.Type()), Agent: e.SubagentID}
	b, err := json.Marshal(e.Data, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), json.Deterministic(true))
	if err != nil {
		x.Text = err.Error()
		return x
	}
	x.Text, x.Size = texts.clip(run.Recorded(string(b)))
	return x
}

func stepText(a fixtures.Step) string {
	return strings.Join(strings.Fields(fmt.Sprint(a.ID, " ", a.Text, a.What)), " ")
}

// clipText shortens a text that is too long, at a rune. It returns the length of
// such a text, and else 0.
func clipText(s string) (string, int) {
	s = conformance.Printable(strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) <= maxText {
		return s, 0
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…", len(s)
}

package session

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Transcript is the check session.transcript.
var Transcript = &conformance.Check{
	ID: "session.transcript", Source: "adapters.Transcriber: a chat that is read from a recording and differs from the live one", Tiers: []conformance.Tier{conformance.TierWitness},
	NeedsLines: true,
	Mend:       "Use the same code for live and stored lines. Keep state that affects events in the reader, not in the code that sends messages.",
	Sentence:   "Reading the recorded output of a session gives the events that the session emitted, except what only its client can know.",
	Faults: []string{"unknown-message", "unknown-field", "unknown-value", "unknown-request", "long-line", "echo-input", "late-delta", "late-item", "duplicate-end",
		"stale-line", "stale-request", "reorder-independent", "kill"},
	Judge:      func(t *conformance.Trial, f *conformance.Finding) { judgeTranscript(t.Run, f) },
	JudgeFault: func(_, faulted *conformance.Run, f *conformance.Finding) { judgeTranscript(faulted, f) },
}

func judgeTranscript(r *conformance.Run, f *conformance.Finding) {
	if r.Transcribe == nil || r.Scenario.Components != nil { // only the client knows which tools show components
		return
	}
	if runindex.Runtime(r).ClientRunsTurns && (r.Fault != nil || runindex.HasStep(r, fixtures.VerbStop) || runindex.HasStep(r, fixtures.VerbAnswer) || r.Scenario.Opening.MaxRequests > 0) {
		return // the output shows neither which turns the client ended nor what it asked, nor which requests were sent
	}
	read, err := r.Transcribe()
	if err != nil {
		f.Asserted(1)
		f.Failf("the transcript cannot be read: %v", err)
		return
	}
	g := grouping{run: r, repeated: map[string]bool{}, decoded: decodedOf(r)}
	sessions := g.bySession(r.Events, r.Canonical())
	transcripts := g.bySession(read, r.WithEvents(read).Canonical())
	for _, session := range slices.Sorted(maps.Keys(sessions)) {
		c := comparison{finding: f, names: map[string]string{}, mintsCalls: runindex.Runtime(r).OwnCallIDs()}
		c.compare(untilClose(r, sessions[session], transcripts[session]))
	}
}

// comparedEvent is an event in the form in which it is compared.
type comparedEvent struct {
	conformance.Event
	canonical string
	text      string         // the canonical form and what the rules need besides
	turnUnset bool           // its turn is not compared
	members   map[string]any // of the canonical form, once it is decoded
}

// member returns a member of the canonical form.
func (e *comparedEvent) member(name string) any {
	if name == "turn" && e.turnUnset {
		return nil
	}
	if e.members == nil {
		e.members = decode(e.canonical)
	}
	return e.members[name]
}

func (e *comparedEvent) data() map[string]any {
	d, _ := e.member("data").(map[string]any)
	return d
}

// decodedOf returns the events of the plain run by their canonical forms. Most events of a
// run with a fault are those of the plain run.
func decodedOf(r *conformance.Run) decoded {
	if r.Plain != nil {
		r = r.Plain
	}
	return conformance.Derive(r, func(r *conformance.Run) decoded {
		out := decoded{}
		for _, canonical := range r.Canonical() {
			out[canonical] = decode(canonical)
		}
		return out
	})
}

// decoded holds the members of canonical events. They must not be changed.
type decoded map[string]map[string]any

func decode(canonical string) (members map[string]any) {
	// Canonical wrote the text, so it can be read.
	_ = json.Unmarshal([]byte(canonical), &members, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	return members
}

// grouping groups events by the session whose line caused them.
type grouping struct {
	run      *conformance.Run
	repeated map[string]bool // the words of messages that were looked for; see repeatsMessage
	decoded  decoded         // the events of the plain run
}

func (g *grouping) bySession(events []conformance.Event, canonical []string) map[int][]*comparedEvent {
	r, out := g.run, map[int][]*comparedEvent{}
	clientTools := map[string]bool{}   // by tool_use_id
	type turn struct{ session, n int } // each transcript counts its turns
	turns := map[turn]string{}         // what the rules need to know of each
	rt := runindex.Runtime(r)
	joined := runindex.RecordedTool(r, func(t wire.Tool) bool { return t.JoinedName })
	unseen := runindex.RecordedShows(r, func(l *wire.Line) bool { return l.Step != nil && l.Step.StartsTurn })
	signals := rt.StopsBySignal()
	cut := cutOff{calls: map[string]string{}, interrupted: map[string]int{}, ends: map[int]bool{}}
	turnOf := func(e conformance.Event) turn {
		if e.Line == 0 {
			return turn{}
		}
		return turn{r.SessionOf(r.Played[e.Line-1].Line.Process), e.Turn}
	}
	for _, e := range events {
		cut.add(e)
		switch d := e.Data.(type) {
		case event.TurnStart:
			if d.Cause == event.CauseCommand {
				turns[turnOf(e)] += ofCommand
			}
		case event.Error:
			if d.Code == event.ErrorCrash {
				turns[turnOf(e)] += ofCrash
				if signals {
					turns[turnOf(e)] += ofSignal
				}
			}
		case event.Done:
			if d.Stopped && signals {
				turns[turnOf(e)] += ofSignal
			}
		}
	}
	for i, e := range events {
		if e.Line == 0 || rt.ClientRunsTurns && e.Type() == event.TypeSessionReady {
			continue // no process has written anything yet
		}
		x := &comparedEvent{Event: e, canonical: canonical[i], text: canonical[i] + turns[turnOf(e)], members: g.decoded[canonical[i]]}
		switch d := e.Data.(type) {
		case event.UserMessage:
			if g.repeatsMessage(d.Text) {
				x.text += ofRepeated
			}
		case event.ToolStart:
			clientTools[d.ToolUseID] = rt.ClientRunsTurns || isClientTool(r.Scenario, d.Tool)
		case event.ToolResult:
			if clientTools[d.ToolUseID] {
				x.text += ofClientTool
			}
		}
		if d, ok := e.Data.(event.PermissionResolved); ok {
			if withoutDecision(r.Scenario) {
				x.text += ofNoDecision
			}
			if cut.lost(d) {
				x.text += ofCutCall
			}
		}
		if joined || rt.ClientRunsTurns {
			x.text += ofJoined
		}
		if unseen {
			x.text += ofUnseen
			x.turnUnset = e.Type() == event.TypeNotice // it may come before the first line of its turn
		}
		p := turnOf(e).session
		out[p] = append(out[p], x)
	}
	return out
}

// cutOff finds the tool calls that were running when the runtime ended.
type cutOff struct {
	calls       map[string]string // the tool_use_id by the request_id that asks for permission
	interrupted map[string]int    // the line at which a call was interrupted, by tool_use_id
	ends        map[int]bool      // the lines at which sessions ended
}

func (c *cutOff) add(e conformance.Event) {
	switch d := e.Data.(type) {
	case event.PermissionRequest:
		c.calls[d.RequestID] = d.ToolUseID
	case event.ToolResult:
		if d.Status == event.ToolInterrupted {
			c.interrupted[d.ToolUseID] = e.Line
		}
	case event.SessionEnd:
		c.ends[e.Line] = true
	case event.Done:
		if d.Stopped {
			c.ends[e.Line] = true
		}
	}
}

// lost reports whether no output shows the answer to a question, because the runtime
// or the turn ended before the call that the question is about.
func (c *cutOff) lost(d event.PermissionResolved) bool {
	line, have := c.interrupted[c.calls[d.RequestID]]
	return have && c.ends[line]
}

// repeatsMessage reports whether a line of the runtime repeats the words of a message
// before the client closes a session.
func (g *grouping) repeatsMessage(text string) bool {
	repeats, have := g.repeated[text]
	if !have {
		repeats = repeatsMessage(g.run, text)
		g.repeated[text] = repeats
	}
	return repeats
}

func repeatsMessage(r *conformance.Run, text string) bool {
	quoted, err := jsontext.AppendQuote(nil, text)
	if text == "" || err != nil {
		return false
	}
	repeats := false
	for i := range r.Played {
		b := r.Played[i].Line.Bytes
		if r.Played[i].Line.Dir != fixtures.Out || !bytes.Contains(b, quoted[:len(quoted)-1]) {
			continue // reading the lines of a run takes long
		}
		switch {
		case !runindex.Of(r).Echoes(i) || slices.ContainsFunc(r.Steps, func(s conformance.StepResult) bool { return s.Step.Verb == fixtures.VerbClose && s.Line <= i }):
		case bytes.Contains(b, append(slices.Clip(quoted[:len(quoted)-1]), `\n`...)):
			return false // joined with the words of the next message
		case bytes.Contains(b, quoted):
			repeats = true
		}
	}
	return repeats
}

// withoutDecision reports whether the client answers a question with an error, or with
// what the runtime does not understand.
func withoutDecision(s *fixtures.Scenario) bool {
	return slices.ContainsFunc(s.Client, func(x fixtures.Step) bool {
		return x.Verb == fixtures.VerbAnswer && (x.What == fixtures.AnswerError || x.What == fixtures.AnswerWrong)
	})
}

func isClientTool(s *fixtures.Scenario, name string) bool {
	return slices.ContainsFunc(s.Tools, func(t fixtures.Tool) bool { return strings.TrimPrefix(name, clientServer) == t.Name })
}

// clientServer is the prefix of the name of a client's tool on runtimes that reach the
// client as a server.
const clientServer = "mcp__client__"

// untilClose leaves out what a session emitted after its client had closed it, because
// the output does not show that, and what the transcript gives from there on.
func untilClose(r *conformance.Run, session, transcript []*comparedEvent) (s, t []*comparedEvent) {
	i := slices.IndexFunc(session, func(e *comparedEvent) bool {
		return e.Steps > 0 && r.Steps[e.Steps-1].Step.Verb == fixtures.VerbClose
	})
	if i < 0 {
		return session, transcript
	}
	line, last := r.Steps[session[i].Steps-1].Line, 0
	for _, e := range transcript {
		last = max(last, e.Line) // that of the events of the transcript's end
	}
	if len(transcript) > 0 && transcript[0].Line == last {
		line, last = last, 0 // without a turn, all of the transcript comes at its end
	}
	return session[:i], slices.DeleteFunc(transcript, func(e *comparedEvent) bool {
		return e.Line > line || e.Line == last && (transcript[0].Line == last || closes(e.Data)) || e.Type() == event.TypeSessionEnd
	})
}

// closes reports whether the end of a transcript may have caused an event. The last line of
// one causes others.
func closes(d event.Data) bool {
	switch d := d.(type) {
	case event.Thinking:
		return d.Done
	case event.BlockEnd:
		return d.Status == event.BlockInterrupted
	case event.ToolResult:
		return d.Status == event.ToolInterrupted || d.Status == event.ToolBackgrounded
	case event.Task:
		return d.Status != event.TaskRunning
	case event.Done:
		return d.Stopped
	case event.PermissionResolved, event.InterruptResolved, event.Error:
		return true
	}
	return false
}

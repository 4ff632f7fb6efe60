package plain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
)

// Dialect reads the messages of a session in another vocabulary. It is guarded by the Mu of
// the session.
type Dialect struct {
	Mapping *mapping.Mapping
	Read    int // messages

	reader  *mapping.Reader
	checker mapping.Checker // nil: the stream is not judged
	whole   bool            // the program declares its events, so all that the mapping names is expected
	judge   map[string]*conformance.Probe
	tasks   map[string]bool // those that run, if a stream is a turn
}

// NewDialect returns the dialect of a mapping.
func NewDialect(m *mapping.Mapping) *Dialect {
	d := &Dialect{Mapping: m, tasks: map[string]bool{}, judge: map[string]*conformance.Probe{}}
	d.Begin()
	for _, name := range mapping.Checks() {
		d.judge[name] = &conformance.Probe{Name: name}
	}
	return d
}

// Begin forgets the last stream, because another one begins.
func (d *Dialect) Begin() {
	d.reader, d.checker = d.Mapping.NewReader(), nil
	if d.Mapping.NewChecker != nil {
		d.checker = d.Mapping.NewChecker()
	}
}

// End judges the end of a stream.
func (d *Dialect) End() {
	if d.checker != nil {
		d.found(d.checker.End())
	}
}

// Probes returns what the checker found, for the checks of the dialect topic.
func (d *Dialect) Probes() (out []conformance.Probe) {
	for _, name := range mapping.Checks() {
		p := *d.judge[name]
		p.Problems = slices.Clone(p.Problems)
		out = append(out, p)
	}
	return out
}

// Adapt limits what a program declares to what the vocabulary can express. can are the abilities
// that do not depend on the vocabulary.
func (d *Dialect) Adapt(declared *plug.Declaration, can ...string) {
	m := d.Mapping
	types := append(m.Types(), event.TypeSessionReady, event.TypeUserMessage)
	if own := declared.Events; own != nil {
		d.whole = true
		types = slices.DeleteFunc(types, func(t event.Type) bool { return !slices.Contains(own, t) })
	}
	if slices.Contains(types, event.TypePermissionRequest) {
		can = append(can, plug.CanAnswer)
	}
	if slices.Contains(types, event.TypeInterrupt) {
		can = append(can, plug.CanQuestion)
	}
	if m.Post != nil {
		can = nil // they have routes of their own
	}
	declared.Can = slices.DeleteFunc(slices.Clone(declared.Can), func(c string) bool { return !slices.Contains(can, c) })
	declared.Events = types
	declared.Without = append(slices.Clone(declared.Without), m.Without...)
	subagents := false
	for _, t := range m.Types() {
		subagents = subagents || m.Names(t, "subagent_id")
		for _, name := range event.Members(t) {
			if !m.Names(t, name) {
				declared.Without = append(declared.Without, string(t)+"."+name)
			}
		}
	}
	if !subagents {
		declared.Without = append(declared.Without, "subagent_id")
	}
}

// Handle emits the events that a message becomes. where names the message in errors.
func (x *Translator) Handle(line, where string) *plug.Error {
	d := x.Dialect
	d.Read++
	if d.checker != nil {
		d.found(d.checker.Add([]byte(line)))
	}
	events, err := d.reader.Read([]byte(line))
	switch {
	case errors.Is(err, mapping.ErrUnknown):
		x.Release()
		x.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeUnknownMessage, Text: "a message of no known type", Raw: event.Raw(line)})
		return nil
	case err != nil:
		return plug.Errorf("%s is not right: %v: %s", where, err, plug.Clip(line)).Advise("write each message as one JSON object, on one line")
	}
	for _, e := range events {
		data := Members(e.Data)
		x.fillForeign(e.Type, data)
		b, err := json.Marshal(data, plug.Lenient)
		if err == nil {
			x.noteSeen(e.Type, data)
			err = x.Add(plug.Envelope{Type: e.Type, Data: b})
		}
		if err != nil && !d.whole && d.Mapping.OnlyIfSeen(string(e.Type)) {
			continue // others use the name for something else
		}
		if err != nil {
			return plug.Errorf("%s gives no %s: %v: %s", where, e.Type, err, plug.Clip(line)).
				Advise(fmt.Sprintf("send the members that the mapping %s names", d.Mapping.Name))
		}
	}
	return nil
}

// fillForeign makes ids of blocks unique in the session, and names the tool of an answer.
func (x *Translator) fillForeign(t event.Type, m Members) {
	if id := m.Text("block_id"); id != "" {
		owner := m.Text("subagent_id") // it may outlive the turn
		m.Set("block_id", cmp.Or(owner, strconv.Itoa(x.Turn))+"/"+id)
	}
	if t == event.TypeToolResult && m["status"] == nil && x.Dialect.whole && m["is_error"] != nil { // a program that declares its events states each other status
		m.Set("status", map[string]event.ToolStatus{"true": event.ToolError, "false": event.ToolOK}[string(m["is_error"])])
	}
	if t != event.TypePermissionResolved || m["tool_name"] != nil {
		return
	}
	for _, a := range x.asked {
		if a.id == m.Text("request_id") {
			m.Set("tool_name", a.tool)
		}
	}
}

// noteSeen notes what a program has sent, for what only some programs send.
func (x *Translator) noteSeen(t event.Type, m Members) {
	x.seen[string(t)] = true
	for name := range m {
		x.seen[string(t)+"."+name] = true
	}
	x.seen["subagent_id"] = x.seen["subagent_id"] || m["subagent_id"] != nil
}

// leaveTasks notes that the work of what outlives the turn is not sent, if a stream is a turn.
func (x *Translator) leaveTasks(d event.Data) {
	if x.Dialect == nil || !x.Dialect.Mapping.OneTurn {
		return
	}
	tasks := x.Dialect.tasks
	switch d := d.(type) {
	case event.Task:
		delete(tasks, d.TaskID)
		if d.Status == event.TaskRunning {
			tasks[d.TaskID] = true
		}
	case event.Done, event.Error:
		if len(tasks) > 0 {
			x.MarkUnsupported("task", "subagent_id")
		}
	}
}

// found counts a message that was checked, and the problems with it.
func (d *Dialect) found(problems []mapping.Problem) {
	for _, p := range d.judge {
		p.Assertions++
	}
	for _, p := range problems {
		if judge := d.judge[p.Check()]; judge != nil {
			judge.Problems = append(judge.Problems, p.Text)
		}
	}
}

package sse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/tmaxmax/go-sse"

	"github.com/turnspec/turnspec/adapters/dialect"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
	"github.com/turnspec/turnspec/fixtures"
)

// foreign reads the streams of a session in another vocabulary.
type foreign struct {
	mapping *mapping.Mapping
	reader  *mapping.Reader
	checker mapping.Checker // nil: the vocabulary has no state machine
	sent    chan struct{}   // holds a token when a message was sent
	last    string          // the id of the last message
	ended   chan struct{}   // closed when the end of the last stream is judged
	replies *replies        // nil: the stream is that of GET /sessions/:id/events
	whole   bool            // the server declares its events, so all that the mapping names is expected
	empty   int             // sockets in a row that had no message

	// Guarded by Mu:
	read       int // messages
	judge      map[string]*conformance.Probe
	socketOpen bool
	tasks      map[string]bool // those that run, if a stream is a turn
}

func newForeign(m *mapping.Mapping) *foreign {
	f := &foreign{tasks: map[string]bool{}, mapping: m, reader: m.NewReader(), checker: m.NewChecker(), sent: make(chan struct{}, 1), last: "0", ended: make(chan struct{})}
	f.judge = map[string]*conformance.Probe{}
	for _, name := range mapping.Checks() {
		f.judge[name] = &conformance.Probe{Name: name}
	}
	return f
}

// begin forgets the last stream, because another one begins.
func (f *foreign) begin() { f.reader, f.checker = f.mapping.NewReader(), f.mapping.NewChecker() }

// Declines implements conformance.Decliner: a stream in a dialect does not have the runtime's id of a
// session, which a resume needs.
func (s *Subject) Declines(of *fixtures.Scenario) (fixtures.Step, error) {
	if s.Dialect == nil {
		return fixtures.Step{}, nil
	}
	for _, step := range of.Client {
		if step.Verb == fixtures.VerbOpen && step.What != "" {
			return step, plug.UnsupportedBecause("the vocabulary " + s.Dialect.Name + " does not have the runtime's id of a session, which " + step.What + " needs")
		}
	}
	return fixtures.Step{}, nil
}

// wake lets the reader ask for a stream again, because a turn begins.
func (f *foreign) wake() {
	if f == nil {
		return
	}
	select {
	case f.sent <- struct{}{}:
	default:
	}
}

// foreignProbes returns what the checker found, for the checks of the dialect topic. It
// waits for the end of the last stream, unless the session never listened.
func (x *session) foreignProbes() (out []conformance.Probe) {
	f := x.foreign
	if f == nil {
		return nil
	}
	x.Mu.Lock()
	listened := f.read > 0
	x.Mu.Unlock()
	if listened {
		select {
		case <-f.ended:
		case <-time.After(5 * time.Second): // the server does not end it
		}
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	for _, name := range mapping.Checks() {
		p := *f.judge[name]
		p.Problems = slices.Clone(p.Problems)
		out = append(out, p)
	}
	return out
}

// foreignAbilities are the abilities that do not depend on the form of the stream.
var foreignAbilities = []string{plug.CanMCP, plug.CanLimits, plug.CanList, plug.CanGuard}

// adaptHealth limits what the server declares about events to what the vocabulary can express.
func (x *session) adaptHealth() {
	m := x.foreign.mapping
	types := append(m.Types(), event.TypeSessionReady, event.TypeUserMessage)
	if declared := x.health.Events; declared != nil {
		x.foreign.whole = true
		types = slices.DeleteFunc(types, func(t event.Type) bool { return !slices.Contains(declared, t) })
	}
	can := slices.Clone(foreignAbilities)
	if x.s.OverSocket() {
		can = append(can, plug.CanCursor, plug.CanHeartbeat)
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
	x.health.Can = slices.DeleteFunc(x.health.Can, func(c string) bool { return !slices.Contains(can, c) })
	x.health.Events = types
	x.health.Without = append(slices.Clone(x.health.Without), m.Without...)
	subagents := false
	for _, t := range m.Types() {
		subagents = subagents || m.Names(t, "subagent_id")
		for name := range eventMembers()[t] {
			if !m.Names(t, name) {
				x.health.Without = append(x.health.Without, string(t)+"."+name)
			}
		}
	}
	if !subagents {
		x.health.Without = append(x.health.Without, "subagent_id")
	}
}

// listenForeign reads the streams of the session, one after the other, until it ends.
func (x *session) listenForeign() {
	ctx, cancel := context.WithCancel(context.Background())
	x.Cancel = cancel
	go func() {
		var err error
		for err == nil {
			if x.s.OverSocket() {
				err = x.readSocket(ctx)
			} else {
				err = x.readForeign(ctx)
			}
		}
		if x.hasLeft() {
			return
		}
		x.endForeign()
		x.endStream(err)
	}()
}

// readForeign reads a stream to its end. It returns an error if no other one can follow.
func (x *session) readForeign(ctx context.Context) error {
	path := x.path("events") + "?format=" + url.QueryEscape(x.foreign.mapping.Name)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.base+path, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", mime.FormatMediaType("text/event-stream", map[string]string{"format": x.foreign.mapping.Name}))
	req.Header.Set("Last-Event-ID", x.foreign.last)
	x.s.Show(true, "GET "+path)
	resp, err := x.http.Do(req)
	if err != nil {
		return err
	}
	x.s.Show(false, resp.Status)
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusNoContent {
		return x.waitForMessage(ctx)
	}
	if e := checkStream(path, x.id, resp); e != nil {
		if x.foreign.last == "0" { // else the server may be about to end
			_ = x.Fail(e)
		}
		return e
	}
	read := 0
	for e, err := range sse.Read(resp.Body, &sse.ReadConfig{MaxEventSize: lines.MaxLength}) {
		if err != nil {
			return err
		}
		if e.LastEventID != "" {
			x.foreign.last = e.LastEventID
		}
		if e.Data == "" || e.Data == x.foreign.mapping.EndOfStream {
			continue
		}
		read++
		x.s.Show(false, "message "+e.Data)
		if mistake := x.handleForeign(e.Data); mistake != nil {
			_ = x.Fail(mistake)
			return mistake
		}
	}
	return x.afterStream(ctx, read)
}

// afterStream waits until another stream can be asked for, after one that had so many messages. It
// returns an error if no other one can follow.
func (x *session) afterStream(ctx context.Context, read int) error {
	x.Mu.Lock()
	running, closing := x.Running, x.Closing
	x.Mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case running && read == 0, closing && read == 0:
		return io.EOF
	case read == 0:
		return x.waitForMessage(ctx)
	}
	return nil
}

// waitForMessage waits until a message is sent, which begins another stream.
func (x *session) waitForMessage(ctx context.Context) error {
	select {
	case <-x.foreign.sent:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// handleForeign handles a message of the stream.
func (x *session) handleForeign(line string) *plug.Error {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	f := x.foreign
	if f.replies != nil && x.Closing {
		return nil // leaveReply has ended the turn
	}
	f.read++
	x.count++
	x.last = time.Now()
	if f.checker != nil {
		f.found(f.checker.Add([]byte(line)))
	}
	events, err := f.reader.Read([]byte(line))
	switch {
	case errors.Is(err, mapping.ErrUnknown):
		x.release()
		x.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeUnknownMessage, Text: "a message of no known type", Raw: event.Raw(line)})
		return nil
	case err != nil:
		return plug.Errorf("message %d of the stream is not right: %v: %s", f.read, err, plug.Clip(line)).Advise("write each message as one JSON object in a data: line")
	}
	for _, e := range events {
		data := members(e.Data)
		x.fillForeign(e.Type, data)
		b, err := json.Marshal(data, plug.Lenient)
		if err == nil {
			x.noteSeen(e.Type, data)
			err = x.addPlain(plug.Envelope{Type: e.Type, Data: b})
		}
		if err != nil && !f.whole && f.mapping.OnlyIfSeen(string(e.Type)) {
			continue // others use the name for something else
		}
		if err != nil {
			return plug.Errorf("message %d of the stream gives no %s: %v: %s", f.read, e.Type, err, plug.Clip(line)).
				Advise(fmt.Sprintf("send the members that the mapping %s names", f.mapping.Name))
		}
	}
	return nil
}

// fillForeign makes ids of blocks unique in the session, and names the tool of an answer.
func (x *session) fillForeign(t event.Type, m members) {
	if id := m.stringMember("block_id"); id != "" {
		owner := m.stringMember("subagent_id") // it may outlive the turn
		m.setMember("block_id", cmp.Or(owner, strconv.Itoa(x.Turn))+"/"+id)
	}
	if t == event.TypeToolResult && m["status"] == nil && x.foreign.whole && m["is_error"] != nil { // a server that declares its events states each other status
		m.setMember("status", map[string]event.ToolStatus{"true": event.ToolError, "false": event.ToolOK}[string(m["is_error"])])
	}
	if t != event.TypePermissionResolved || m["tool_name"] != nil {
		return
	}
	for _, a := range x.asked {
		if a.id == m.stringMember("request_id") {
			m.setMember("tool_name", a.tool)
		}
	}
}

// noteSeen notes what a server has sent, for what only some servers send.
func (x *session) noteSeen(t event.Type, m members) {
	x.seen[string(t)] = true
	for name := range m {
		x.seen[string(t)+"."+name] = true
	}
	x.seen["subagent_id"] = x.seen["subagent_id"] || m["subagent_id"] != nil
}

// leaveTasks notes that the work of what outlives the turn is not sent, if a stream is a turn.
func (x *session) leaveTasks(d event.Data) {
	if x.foreign == nil || !x.foreign.mapping.OneTurn {
		return
	}
	switch d := d.(type) {
	case event.Task:
		delete(x.foreign.tasks, d.TaskID)
		if d.Status == event.TaskRunning {
			x.foreign.tasks[d.TaskID] = true
		}
	case event.Done, event.Error:
		if len(x.foreign.tasks) > 0 {
			x.MarkUnsupported("task", "subagent_id")
		}
	}
}

// expects reports whether something is expected of the server, though only some servers send it.
func (x *session) expects(what string) bool {
	return x.foreign == nil || x.foreign.whole || !x.foreign.mapping.OnlyIfSeen(what) || x.seen[what]
}

// endForeign judges the end of the last stream.
func (x *session) endForeign() {
	defer close(x.foreign.ended)
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if f := x.foreign; f.checker != nil && f.read > 0 {
		f.found(f.checker.End())
	}
}

// found counts a message that was checked, and the problems with it.
func (f *foreign) found(problems []dialect.Problem) {
	for _, p := range f.judge {
		p.Assertions++
	}
	for _, p := range problems {
		if judge := f.judge[mapping.CheckOf(p.Rule)]; judge != nil {
			judge.Problems = append(judge.Problems, p.String())
		}
	}
}

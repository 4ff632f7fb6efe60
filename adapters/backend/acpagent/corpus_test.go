package acpagent_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters/backend/acpagent"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/streamgolden"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

var update = flag.Bool("update", false, "write the goldens of testdata")

func eachGolden() *streamgolden.Folder {
	return &streamgolden.Folder{Dir: filepath.Join("testdata", "each"), Show: func(id string) string { return "turnspec emit acp " + id }, TypeOf: typeOf}
}

// typeOf returns the kind of an update, and of another message its method, or that it is a reply.
func typeOf(line []byte) string {
	var m struct {
		Method string
		Params struct {
			Update struct{ SessionUpdate string }
		}
		Error json.RawMessage
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return "not JSON"
	}
	reply := "result"
	if m.Error != nil {
		reply = "error"
	}
	return cmp.Or(m.Params.Update.SessionUpdate, m.Method, reply)
}

// messagesOf returns the messages of events in the order of the events, and by session.
func messagesOf(events []event.Event) (lines [][]byte, sessions map[string][][]byte) {
	sessions = map[string][][]byte{}
	translators := map[string]*acpagent.Translator{}
	for _, e := range events {
		if translators[e.SessionID] == nil {
			translators[e.SessionID] = new(acpagent.Translator)
		}
		for _, m := range translators[e.SessionID].Translate(e) {
			line := m.Encode()
			lines = append(lines, line)
			sessions[e.SessionID] = append(sessions[e.SessionID], line)
		}
	}
	return lines, sessions
}

// TestOneMessageMissing leaves a message of one case out. Only this case must differ from the goldens.
func TestOneMessageMissing(t *testing.T) {
	id := fixtures.Embedded().Resolve("claude/newest/permission/allow")
	lines, _ := messagesOf(streamgolden.Events(t, fixtures.Embedded(), id))
	f := eachGolden()
	f.Add(id, lines)
	if got, err := f.Compare(true); err != nil || len(got) > 0 {
		t.Errorf("%v, %q", err, got)
	}
	f.Add(id, lines[1:])
	got, err := f.Compare(true)
	if err != nil || len(got) != 1 || !strings.HasPrefix(got[0], id+": ") {
		t.Errorf("a message is missing: %v, %q", err, got)
	}
}

// TestEachCase translates the events of all cases. The SDK must accept the messages, a client that reads them
// must see what the chat shows that the events reduce to, and they must be those of the goldens.
func TestEachCase(t *testing.T) {
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	goldens := eachGolden()
	sample := racesample.Sample(ids, 15)
	for _, id := range sample {
		all := streamgolden.Events(t, fixtures.Embedded(), id)
		lines, messages := messagesOf(all)
		goldens.Add(id, lines)
		sessions := map[string][]event.Event{}
		for _, e := range all {
			sessions[e.SessionID] = append(sessions[e.SessionID], e)
		}
		for session, events := range sessions {
			got := read(messages[session])
			for _, problem := range slices.Concat(got.problems, got.differences(events)) {
				t.Errorf("%s: %s", id, problem)
			}
		}
	}
	goldens.Test(t, *update, len(sample) != len(ids), "go test ./adapters/backend/acpagent -run TestEachCase -update")
}

// TestReaderFindsDefects gives the reader messages that have a defect each.
func TestReaderFindsDefects(t *testing.T) {
	id := fixtures.Embedded().Resolve("claude/newest/permission/allow")
	events := streamgolden.Events(t, fixtures.Embedded(), id)
	good, _ := messagesOf(events)
	index := func(text string) int {
		return slices.IndexFunc(good, func(l []byte) bool { return strings.Contains(string(l), text) })
	}
	replaced := func(at, old, by string) [][]byte {
		out := slices.Clone(good)
		out[index(at)] = []byte(strings.Replace(string(out[index(at)]), old, by, 1))
		return out
	}
	without := func(text string) [][]byte { return slices.Delete(slices.Clone(good), index(text), index(text)+1) }
	twice := func(text string) [][]byte { return slices.Insert(slices.Clone(good), index(text), good[index(text)]) }
	for name, lines := range map[string][][]byte{
		"a text is missing":          without(`"agent_message_chunk"`),
		"a text comes twice":         twice(`"agent_message_chunk"`),
		"a call is missing":          without(`"tool_call"`),
		"a call comes twice":         twice(`"tool_call"`),
		"a result is missing":        without(`"tool_call_update"`),
		"a result has another state": replaced(`"tool_call_update"`, `"completed"`, `"failed"`),
		"a result has another text":  replaced(`"tool_call_update"`, `"rawOutput":"`, `"rawOutput":"x`),
		"a request is missing":       without(`"session/request_permission"`),
		"a request comes twice":      twice(`"session/request_permission"`),
		"the reply is missing":       without(`"stopReason"`),
		"the reply comes twice":      twice(`"stopReason"`),
		"the turn was not stopped":   replaced(`"stopReason"`, `"end_turn"`, `"cancelled"`),
		"an update has no kind":      replaced(`"agent_message_chunk"`, `"agent_message_chunk"`, `"agent_says"`),
		"another session":            replaced(`"agent_message_chunk"`, `"sessionId":"`, `"sessionId":"x`),
	} {
		got := read(lines)
		if len(got.problems)+len(got.differences(events)) == 0 {
			t.Errorf("%s: it was not found", name)
		}
	}
}

// reading is what a client of a session knows at the end.
type reading struct {
	session        string
	text, thinking strings.Builder
	calls          []string          // in order
	results        map[string]string // STATUS OUTPUT, by call
	requests       map[string]bool   // whether it was cancelled
	replies        map[int]string    // by turn
	problems       []string
}

func read(lines [][]byte) *reading {
	r := &reading{results: map[string]string{}, requests: map[string]bool{}, replies: map[int]string{}}
	for _, line := range lines {
		if err := r.add(line); err != nil {
			r.problems = append(r.problems, fmt.Sprintf("%v: %s", err, line))
		}
	}
	return r
}

func (r *reading) add(line []byte) error {
	var m struct {
		JSONRPC string
		ID      any
		Method  string
		Params  json.RawMessage
		Result  *acpsdk.PromptResponse
		Error   *acpsdk.RequestError
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return err
	}
	if m.JSONRPC != "2.0" || strings.Contains(string(line), "\n") {
		return fmt.Errorf("it is not JSON-RPC on one line")
	}
	switch m.Method {
	case acpsdk.ClientMethodSessionUpdate:
		var n acpsdk.SessionNotification
		if err := json.Unmarshal(m.Params, &n); err != nil {
			return err
		}
		if err := n.Validate(); err != nil {
			return err
		}
		if err := n.Update.Validate(); err != nil {
			return err
		}
		return r.addUpdate(string(n.SessionId), n.Update)
	case acpsdk.ClientMethodSessionRequestPermission:
		var p acpsdk.RequestPermissionRequest
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return err
		}
		if err := p.Validate(); err != nil {
			return err
		}
		id := fmt.Sprint(m.ID)
		if _, again := r.requests[id]; again {
			return fmt.Errorf("it is requested twice")
		}
		r.requests[id] = false
		return r.sameSession(string(p.SessionId))
	case "$/cancel_request":
		var p struct{ RequestID string }
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return err
		}
		if cancelled, known := r.requests[p.RequestID]; !known || cancelled {
			return fmt.Errorf("it cancels what is not open")
		}
		r.requests[p.RequestID] = true
		return nil
	}
	turn, err := strconv.Atoi(fmt.Sprint(m.ID))
	if err != nil || r.replies[turn] != "" {
		return fmt.Errorf("it is no reply, or a second one")
	}
	switch {
	case m.Error != nil:
		r.replies[turn] = string(replay.Failed)
	case m.Result != nil && m.Result.StopReason == acpsdk.StopReasonEndTurn:
		r.replies[turn] = string(replay.Complete)
	case m.Result != nil && m.Result.StopReason == acpsdk.StopReasonCancelled:
		r.replies[turn] = string(replay.Stopped)
	default:
		return fmt.Errorf("it has no result")
	}
	return nil
}

func (r *reading) sameSession(id string) error {
	if r.session == "" {
		r.session = id
	}
	if r.session != id {
		return fmt.Errorf("the session was %s before", r.session)
	}
	return nil
}

func (r *reading) addUpdate(session string, u acpsdk.SessionUpdate) error {
	switch {
	case u.AgentMessageChunk != nil:
		r.text.WriteString(u.AgentMessageChunk.Content.Text.Text)
	case u.AgentThoughtChunk != nil:
		r.thinking.WriteString(u.AgentThoughtChunk.Content.Text.Text)
	case u.ToolCall != nil:
		if slices.Contains(r.calls, string(u.ToolCall.ToolCallId)) {
			return fmt.Errorf("it is called twice")
		}
		r.calls = append(r.calls, string(u.ToolCall.ToolCallId))
	case u.ToolCallUpdate != nil:
		id := string(u.ToolCallUpdate.ToolCallId)
		if !slices.Contains(r.calls, id) || r.results[id] != "" || u.ToolCallUpdate.Status == nil {
			return fmt.Errorf("it was not called, has a result, or no status")
		}
		r.results[id] = fmt.Sprint(*u.ToolCallUpdate.Status, " ", u.ToolCallUpdate.RawOutput)
	}
	return r.sameSession(session)
}

// differences compares with what the events say.
func (r *reading) differences(events []event.Event) (out []string) {
	differ := func(what string, got, want any) {
		if g, w := fmt.Sprintf("%q", got), fmt.Sprintf("%q", want); g != w {
			out = append(out, fmt.Sprintf("%s differ\n got %s\nwant %s", what, g, w))
		}
	}
	w := &reading{results: map[string]string{}, requests: map[string]bool{}, replies: map[int]string{}}
	prompted, ends, withdrawn := map[int]bool{}, map[int]string{}, map[string]bool{}
	retracts := false
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.UserMessage:
			prompted[e.Turn] = true
		case event.BlockEnd: // the protocol cannot take back what was said
			retracts = retracts || d.Status == event.BlockRetracted || d.Status == event.BlockReplaced
		case event.Done, event.Error: // of a turn of which the chat shows nothing
			ends[e.Turn] = string(replay.Complete)
		case event.PermissionResolved:
			withdrawn[d.RequestID] = d.By != event.ByUser
		case event.InterruptResolved:
			withdrawn[d.InterruptID] = d.By != event.ByUser
		}
	}
	for _, m := range replay.Reduce(events).Messages {
		if m.Role == replay.RoleAssistant {
			ends[m.Turn] = string(m.Status)
			w.addBlocks(m.Blocks, true)
		}
	}
	for turn := range prompted {
		w.replies[turn] = ends[turn]
	}
	for id := range w.requests {
		w.requests[id] = withdrawn[id]
	}
	if !retracts {
		differ("texts", squeezed(r.text.String()), squeezed(w.text.String()))
		differ("thoughts", squeezed(r.thinking.String()), squeezed(w.thinking.String()))
	}
	differ("calls", r.calls, w.calls)
	differ("results", r.results, w.results)
	differ("requests", r.requests, w.requests)
	differ("replies", r.replies, w.replies)
	return out
}

// addBlocks adds what a chat shows. Of sub-agents the client learns only what they ask.
func (r *reading) addBlocks(blocks []replay.Block, main bool) {
	for _, b := range blocks {
		switch {
		case b.Kind == replay.KindPermission || b.Kind == replay.KindInterrupt:
			r.requests[b.ID] = false
		case !main:
		case b.Kind == replay.KindText:
			r.text.WriteString(b.Text)
		case b.Kind == replay.KindThinking:
			r.thinking.WriteString(b.Text)
		case b.Kind == replay.KindTool:
			r.calls = append(r.calls, b.ID)
			status := acpsdk.ToolCallStatusFailed
			if b.Status == replay.OK || b.Status == replay.Backgrounded {
				status = acpsdk.ToolCallStatusCompleted
			}
			r.results[b.ID] = fmt.Sprint(status, " ", b.Tool.Output)
		}
		r.addBlocks(b.Blocks, false)
	}
}

// squeezed is a text without white space: the client cannot tell blocks apart.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }

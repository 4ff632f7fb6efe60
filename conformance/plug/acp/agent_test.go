package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	acpsdk "github.com/coder/acp-go-sdk"
)

// asAgent is the first argument if this program runs as an agent. The second one is
// its defect.
const asAgent = "turnspec-test-agent"

// The defects of the agent.
const (
	right         = "right"
	dropsChunk    = "drops a chunk"
	doublesChunk  = "doubles a chunk"
	otherToolID   = "gives a result another id"
	invents       = "invents a call"
	neverReplies  = "never replies to the prompt"
	exits         = "exits in the prompt"
	lateChunk     = "says a chunk after the reply"
	forgetsCancel = "replies end_turn to a cancelled prompt"
	asksTwice     = "asks twice for one permission"
	allowsDenied  = "allows what was denied"
	takesLimits   = "takes limits" // no defect
)

// agent is a small ACP agent for Claude Code. It supports text, thinking, tool
// calls, permissions and cancel.
type agent struct {
	broken string
	conn   *acpsdk.AgentSideConnection

	in  io.WriteCloser
	cmd *exec.Cmd

	mu        sync.Mutex
	session   acpsdk.SessionId
	over      chan string // subtype of the runtime's result
	cancelled bool
	said      int
	invented  bool
}

// beAgent is the main function of an agent.
func beAgent(broken string) {
	a := &agent{broken: broken}
	a.mu.Lock() // requests come before the connection is returned
	a.conn = acpsdk.NewAgentSideConnection(a, late{a, os.Stdout}, os.Stdin)
	a.mu.Unlock()
	<-a.conn.Done()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.in != nil {
		_ = a.in.Close()
		_ = a.cmd.Wait()
	}
}

// late writes a chunk after the reply to a prompt, if that is the agent's defect.
type late struct {
	a  *agent
	to io.Writer
}

func (l late) Write(p []byte) (int, error) {
	n, err := l.to.Write(p)
	if l.a.broken == lateChunk && strings.Contains(string(p), "stopReason") {
		_, err = fmt.Fprintf(l.to, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":" And more."}}}}`+"\n", l.a.session)
	}
	return n, err
}

func (a *agent) Initialize(context.Context, acpsdk.InitializeRequest) (acpsdk.InitializeResponse, error) {
	r := acpsdk.InitializeResponse{ProtocolVersion: acpsdk.ProtocolVersionNumber}
	if a.broken == takesLimits {
		r.AgentCapabilities.Meta = map[string]any{"turnspec": map[string]any{"can": []string{"limits"}}}
	}
	return r, nil
}

func (a *agent) NewSession(_ context.Context, r acpsdk.NewSessionRequest) (acpsdk.NewSessionResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.session = "00000000-0000-4000-8000-0000000000aa"
	if b, err := json.Marshal(r.Meta); err == nil && len(r.Meta) > 0 {
		fmt.Fprintf(os.Stderr, "_meta %s\n", b)
	}
	a.cwd(r.Cwd)
	return acpsdk.NewSessionResponse{SessionId: a.session, Modes: &acpsdk.SessionModeState{
		CurrentModeId: "default", AvailableModes: []acpsdk.SessionMode{{Id: "default", Name: "Ask"}, {Id: "bypassPermissions", Name: "Never"}},
	}}, nil
}

func (a *agent) cwd(dir string) {
	a.cmd = exec.Command(os.Getenv("CLAUDE_CODE_EXECUTABLE"))
	a.cmd.Dir, a.cmd.Stderr = dir, os.Stderr
}

// SetSessionMode starts the runtime, because the permission mode is an argument of
// it.
func (a *agent) SetSessionMode(_ context.Context, r acpsdk.SetSessionModeRequest) (acpsdk.SetSessionModeResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return acpsdk.SetSessionModeResponse{}, a.start(string(r.ModeId))
}

// start starts the runtime. The caller holds a.mu: each request has its goroutine.
func (a *agent) start(mode string) error {
	a.cmd.Args = append(strings.Fields("claude -p --verbose --input-format stream-json --output-format stream-json --include-partial-messages --permission-prompt-tool stdio"),
		"--session-id", string(a.session), "--permission-mode", mode)
	in, err1 := a.cmd.StdinPipe()
	out, err2 := a.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, a.cmd.Start()); err != nil {
		return err
	}
	a.in = in
	go a.read(json.NewDecoder(out))
	return nil
}

func (a *agent) write(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	_, _ = a.in.Write(append(b, '\n'))
}

func (a *agent) Prompt(_ context.Context, r acpsdk.PromptRequest) (acpsdk.PromptResponse, error) {
	a.mu.Lock()
	if a.in == nil {
		if err := a.start("default"); err != nil {
			a.mu.Unlock()
			return acpsdk.PromptResponse{}, err
		}
	}
	over := make(chan string, 1)
	a.over, a.cancelled = over, false
	a.mu.Unlock()
	a.write(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": r.Prompt[0].Text.Text}})
	problem := <-over
	if a.broken == neverReplies {
		select {}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.cancelled && a.broken != forgetsCancel:
		return acpsdk.PromptResponse{StopReason: acpsdk.StopReasonCancelled}, nil
	case problem != "":
		return acpsdk.PromptResponse{}, acpsdk.NewInternalError(map[string]any{"details": problem})
	}
	return acpsdk.PromptResponse{StopReason: acpsdk.StopReasonEndTurn}, nil
}

func (a *agent) Cancel(context.Context, acpsdk.CancelNotification) error {
	a.mu.Lock()
	a.cancelled = true
	a.mu.Unlock()
	a.write(map[string]any{"type": "control_request", "request_id": "stop", "request": map[string]any{"subtype": "interrupt"}})
	return nil
}

func (a *agent) tell(u acpsdk.SessionUpdate) {
	_ = a.conn.SessionUpdate(context.Background(), acpsdk.SessionNotification{SessionId: a.session, Update: u})
}

// line holds the members that the agent reads of a line of the runtime.
type line struct {
	Type, Subtype string
	IsError       bool   `json:"is_error"`
	RequestID     string `json:"request_id"`
	Request       struct {
		Subtype string
		ToolUse string `json:"tool_use_id"`
		Name    string `json:"tool_name"`
		Input   any
	}
	Event struct {
		Delta struct{ Text, Thinking string }
	}
	Message struct{ Content json.RawMessage }
}

func (a *agent) read(d *json.Decoder) {
	for {
		var l line
		if err := d.Decode(&l); err != nil {
			a.end("the runtime ended")
			return
		}
		switch l.Type {
		case "stream_event":
			if t := l.Event.Delta.Thinking; t != "" {
				a.tell(acpsdk.UpdateAgentThoughtText(t))
			}
			if t := l.Event.Delta.Text; t != "" {
				a.text(t)
			}
		case "assistant", "user":
			a.blocks(l.Message.Content)
		case "control_request":
			if l.Request.Subtype == "can_use_tool" {
				go a.ask(l)
			}
		case "result":
			problem := ""
			if l.IsError {
				problem = l.Subtype
			}
			a.end(problem)
		}
	}
}

func (a *agent) end(problem string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over != nil {
		a.over <- problem
		a.over = nil
	}
}

func (a *agent) text(t string) {
	a.said++
	if a.broken == exits {
		os.Exit(3)
	}
	if a.broken == dropsChunk && a.said == 2 {
		return
	}
	a.tell(acpsdk.UpdateAgentMessageText(t))
	if a.broken == doublesChunk && a.said == 2 {
		a.tell(acpsdk.UpdateAgentMessageText(t))
	}
}

func (a *agent) blocks(content json.RawMessage) {
	var blocks []struct {
		Type, ID, Name string
		Input          any
		ToolUse        string `json:"tool_use_id"`
		IsError        bool   `json:"is_error"`
		Content        any
	}
	if json.Unmarshal(content, &blocks) != nil {
		return // a message with text only
	}
	for _, b := range blocks {
		switch b.Type {
		case "tool_use":
			a.tell(acpsdk.StartToolCall(acpsdk.ToolCallId(b.ID), b.Name, acpsdk.WithStartRawInput(b.Input), acpsdk.WithStartStatus(acpsdk.ToolCallStatusInProgress)))
			if a.broken == invents && !a.invented {
				a.invented = true
				a.tell(acpsdk.StartToolCall("toolu_nobody", b.Name, acpsdk.WithStartRawInput(b.Input), acpsdk.WithStartStatus(acpsdk.ToolCallStatusCompleted)))
			}
		case "tool_result":
			id, status := b.ToolUse, acpsdk.ToolCallStatusCompleted
			if b.IsError {
				status = acpsdk.ToolCallStatusFailed
			}
			if a.broken == otherToolID {
				id += "x"
			}
			a.tell(acpsdk.UpdateToolCall(acpsdk.ToolCallId(id), acpsdk.WithUpdateStatus(status), acpsdk.WithUpdateRawOutput(b.Content)))
		}
	}
}

func (a *agent) ask(l line) {
	title := l.Request.Name
	r := acpsdk.RequestPermissionRequest{
		SessionId: a.session,
		ToolCall:  acpsdk.ToolCallUpdate{ToolCallId: acpsdk.ToolCallId(l.Request.ToolUse), Title: &title, RawInput: l.Request.Input},
		Options: []acpsdk.PermissionOption{
			{OptionId: "yes", Name: "Yes", Kind: acpsdk.PermissionOptionKindAllowOnce}, {OptionId: "no", Name: "No", Kind: acpsdk.PermissionOptionKindRejectOnce},
		},
	}
	got, err := a.conn.RequestPermission(context.Background(), r)
	if err != nil {
		return
	}
	if a.broken == asksTwice {
		go func() { _, _ = a.conn.RequestPermission(context.Background(), r) }()
	}
	yes := got.Outcome.Selected != nil && got.Outcome.Selected.OptionId == "yes" || a.broken == allowsDenied
	answer := map[string]any{"behavior": "deny", "message": "The user said no."}
	if yes {
		answer = map[string]any{"behavior": "allow", "updatedInput": l.Request.Input}
	}
	a.write(map[string]any{"type": "control_response", "response": map[string]any{"subtype": "success", "request_id": l.RequestID, "response": answer}})
}

// Methods that this agent does not support.

var errNot = errors.New("not of this agent")

func (*agent) Authenticate(context.Context, acpsdk.AuthenticateRequest) (acpsdk.AuthenticateResponse, error) {
	return acpsdk.AuthenticateResponse{}, errNot
}

func (*agent) CloseSession(context.Context, acpsdk.CloseSessionRequest) (acpsdk.CloseSessionResponse, error) {
	return acpsdk.CloseSessionResponse{}, errNot
}

func (*agent) ListSessions(context.Context, acpsdk.ListSessionsRequest) (acpsdk.ListSessionsResponse, error) {
	return acpsdk.ListSessionsResponse{}, errNot
}

func (*agent) ResumeSession(context.Context, acpsdk.ResumeSessionRequest) (acpsdk.ResumeSessionResponse, error) {
	return acpsdk.ResumeSessionResponse{}, errNot
}

func (*agent) SetSessionConfigOption(context.Context, acpsdk.SetSessionConfigOptionRequest) (acpsdk.SetSessionConfigOptionResponse, error) {
	return acpsdk.SetSessionConfigOptionResponse{}, errNot
}

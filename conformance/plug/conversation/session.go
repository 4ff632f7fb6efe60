package conversation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// grace is how a runner is ended: its input ends, and then it gets SIGTERM.
var grace = proc.Grace{Stdin: 15 * time.Second, Term: 15 * time.Second}

// stopLimit is how long a turn may take to end after interrupt.
const stopLimit = 10 * time.Second

// session is a running runner.
type session struct {
	*plug.Session
	started     chan struct{} // closed when the session takes messages, or will not
	startOnce   sync.Once
	serversFile string
	writing     sync.Mutex

	// Guarded by Mu:
	refused   *plug.RefusalError          // why no session started
	opened    bool                        // it takes messages, though no session has started
	sent      map[string]adapters.Message // that began no turn yet
	turnEnded chan struct{}               // closed when the running turn has ended
	shutdown  bool
	translator
}

func newSession(s *Subject, p *plug.Process, o conformance.Open, serversFile string) *session {
	x := &session{Session: plug.NewSession(&s.Program, o), serversFile: serversFile, started: make(chan struct{}), sent: map[string]adapters.Message{}, translator: newTranslator()}
	x.dir = o.Dir
	x.Process, x.Cancel = p, p.Kill
	go x.read(p.Stdout())
	return x
}

// begun unblocks Open.
func (x *session) begun() { x.startOnce.Do(func() { close(x.started) }) }

// read handles the messages until stdout ends.
func (x *session) read(r io.Reader) {
	in := plug.NewLines(r)
	defer in.Release()
	for {
		line, err := in.Next()
		if errors.Is(err, lines.ErrTooLong) {
			_ = x.Fail(plug.TooLong("a line of stdout", line))
			break
		}
		if err != nil {
			break
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		x.Program.Show(false, string(line))
		x.Mu.Lock()
		problem := x.handle(line)
		x.Mu.Unlock()
		if problem != nil {
			_ = x.Fail(problem)
		}
	}
	x.Process.Reap(func() proc.Exit { return proc.End(x.Process, grace) }, x.handleEnd)
	x.begun()
	x.Finish()
	if x.serversFile != "" {
		_ = os.RemoveAll(filepath.Dir(x.serversFile))
	}
}

// handleEnd handles the end of the runner.
func (x *session) handleEnd() {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if !x.shutdown && x.Ready && x.ProtocolError() == nil {
		x.FailEnded("runner", "it had not written shutdown", "it has written shutdown, as its last message")
	}
	x.endThought()
	if x.end == nil {
		x.EndSession(x.Closing, "the runner ended", func() { x.EndBlock(event.BlockInterrupted) })
		return
	}
	x.EndBlock(event.BlockInterrupted)
	x.Running = false // a check reports a turn without turn_complete
	x.EmitIn(*x.end, 0, "")
}

// write sends a command.
func (x *session) write(command map[string]any) error {
	b, err := json.Marshal(command)
	if err != nil {
		return err
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	x.Program.Show(true, string(b))
	if _, err := x.Process.Stdin().Write(append(b, '\n')); err != nil {
		return fmt.Errorf("the runner reads no commands: %w", err)
	}
	return nil
}

// Send implements adapters.Session.
func (x *session) Send(_ context.Context, m adapters.Message) error {
	if err := plug.TextOnly(m); err != nil {
		return err
	}
	x.Mu.Lock()
	busy := x.Running || len(x.sent) > 0
	if x.Closing {
		x.Mu.Unlock()
		return adapters.ErrClosed
	}
	if !busy {
		x.sent[m.ID] = m
		x.turnEnded = make(chan struct{})
	}
	x.Mu.Unlock()
	if busy {
		return plug.Unsupported("a message to the runtime during a turn: a runner keeps it until the turn has ended")
	}
	return x.write(map[string]any{"type": "message", "id": m.ID, "content": m.Text})
}

// Steer implements adapters.Steerer.
func (*session) Steer(context.Context, adapters.Message) error { return plug.Unsupported("steer") }

// Stop implements adapters.Session.
func (x *session) Stop(ctx context.Context) error {
	x.Mu.Lock()
	running, ended := x.Running || len(x.sent) > 0, x.turnEnded
	x.Mu.Unlock()
	if err := x.write(map[string]any{"type": "interrupt"}); err != nil || !running {
		return err
	}
	plug.WaitFor(ctx, ended, stopLimit) // a check reports that the turn has no end
	return nil
}

// Answer implements adapters.Session.
func (x *session) Answer(_ context.Context, id string, a adapters.Answer) error {
	x.Mu.Lock()
	kind, open := x.requests[id]
	x.Mu.Unlock()
	switch {
	case !open:
		return fmt.Errorf("%w: %q", adapters.ErrUnknownID, id)
	case a.Decision == event.DecisionCancel && kind.answer != "permission_response":
		return plug.Unsupported("an answer to a question that ends the turn")
	}
	command := map[string]any{"type": kind.answer, "request_id": id}
	switch kind.answer {
	case "permission_response":
		command["decision"] = a.Decision
		for name, value := range map[string]string{"message": a.Message, "scope": string(a.Scope)} {
			if value != "" {
				command[name] = value
			}
		}
		if a.Input != nil {
			command["input"] = a.Input
		}
	case answerPlan:
		command["approved"] = a.Decision != event.DecisionDeny && approves(a.Value)
		command["reason"] = a.Message
	default:
		command["answers"] = a.Value
		if a.Value == nil {
			command["answers"] = a.Decision != event.DecisionDeny
		}
	}
	return x.write(command)
}

// approves reports whether an answer approves a plan.
func approves(v event.Raw) bool {
	var form struct {
		Approved *bool `json:"approved"`
	}
	if json.Unmarshal(v, &form) == nil && form.Approved != nil {
		return *form.Approved
	}
	return !slices.Contains([]string{"false", `"deny"`}, string(v))
}

// Close implements adapters.Session: it ends the input of the runner, or sends SIGTERM if a
// turn runs.
func (x *session) Close(context.Context) error {
	x.Mu.Lock()
	x.Closing = true
	running := x.Running || len(x.sent) > 0
	x.Mu.Unlock()
	if running {
		_ = x.Process.Signal(proc.SIGTERM) // it may have ended
	}
	x.End(grace, "runner", "end the runtime, write shutdown and exit")
	return nil
}

// abandon ends the runner, if its events are not read.
func (x *session) abandon() {
	x.Mu.Lock()
	x.Closing = true
	x.Mu.Unlock()
	x.Abandon(plug.UnusedGrace)
}

// emits are the types of events that messages become; there are no others.
var emits = []event.Type{
	event.TypeSessionReady, event.TypeSessionEnd, event.TypeTurnStart, event.TypeDelta, event.TypeThinking, event.TypeToolStart,
	event.TypeToolOutput, event.TypeToolResult, event.TypePermissionRequest, event.TypePermissionResolved, event.TypeInterrupt,
	event.TypeInterruptResolved, event.TypePlan, event.TypeUsage, event.TypeCompaction, event.TypeModelChanged, event.TypeModeChanged,
	event.TypeCheckpoint, event.TypeError, event.TypeDone,
}

// never holds the members that messages do not have.
var never = []string{
	"session_ready.forked_from", "turn_start.provider_turn_id", "subagent_id", "delta.message_id", "tool_result.output",
	"tool_result.exit_code", "tool_result.changes", "tool_result.file_path", "tool_start.command", "tool_start.file_path",
	"tool_start.pattern", "tool_start.is_file_read", "tool_start.message_id", "tool_start.background", "tool_start.subagent_spawn", "seq",
	"ts", "done.reason", "answer.message", "permission_request.options",
}

// Supports implements conformance.EventSupporter.
func (x *session) Supports(what string) bool {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	return !plug.Inexpressible(what, emits, never) && !x.Unsupported(what)
}

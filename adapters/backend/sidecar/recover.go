package sidecar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// Recovery is what Recover does with the sessions that a server left behind when it
// was killed.
type Recovery string

// The recoveries.
const (
	RecoverClose  Recovery = "close"  // end them in the log: a running turn has failed
	RecoverResume Recovery = "resume" // and resume those whose turn ran on their runtime
)

// Recover ends the sessions of the log that no session_end ends, because the server
// that ran them was killed: what was open is closed, a turn that ran ends in an error
// with the code crash. With RecoverResume, it then resumes each session that had a
// running turn, in the folder and the permission mode that its events report. What they do
// not hold, such as MCP servers, is that of Config.Base. Call it before the server serves,
// and only if no other server uses the log, which sqlite.Log.Own makes sure of. It returns the ids of the sessions that it ended.
func (s *Server) Recover(ctx context.Context, how Recovery) (ended []string, err error) {
	infos, err := s.c.Log.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, info := range infos {
		done, err := s.recoverSession(ctx, info, how)
		if done {
			ended = append(ended, info.SessionID)
			errs = append(errs, err) // of resuming it
		} else if err != nil {
			return ended, err
		}
	}
	return ended, errors.Join(errs...)
}

// recoverSession ends a session in the log, unless it ended, and resumes it if a turn ran
// and that is asked. It reports whether it ended the session.
func (s *Server) recoverSession(ctx context.Context, info eventlog.Info, how Recovery) (ended bool, err error) {
	if over, err := s.endsWith(ctx, info.SessionID, info.Last.Seq); over || err != nil {
		return false, err
	}
	run, err := s.storedRun(ctx, info)
	if err != nil {
		return false, err
	}
	if how != RecoverResume || run.State != StateFailed || info.ProviderSessionID == "" {
		_, err := s.closeLeftOpen(ctx, info.SessionID)
		return err == nil, err
	}
	// Reserved before the end is stored, so that no listener takes that for the last event.
	h, refused := s.reserve(info.SessionID, info.Runtime)
	closed, err := s.closeLeftOpen(ctx, info.SessionID)
	if err != nil && refused == nil {
		close(h.ready)
		s.release(h)
	}
	switch {
	case err != nil:
		return false, err
	case refused == nil:
		refused = s.resumeStored(ctx, h, info, closed)
	}
	if refused != nil {
		return true, fmt.Errorf("resume session %s: %w", info.SessionID, refused)
	}
	return true, nil
}

// resumeStored opens a reserved session in the folder and the mode that it had. Its MCP
// servers are not in the log.
func (s *Server) resumeStored(ctx context.Context, h *hosted, info eventlog.Info, closed closedSession) error {
	a := s.c.Adapters[info.Runtime]
	if a == nil {
		close(h.ready)
		s.release(h)
		return refuse(http.StatusBadRequest, CodeInvalid, "runtime %q is not served", info.Runtime)
	}
	owner, err := s.c.Log.Owner(ctx, info.SessionID)
	if err != nil {
		close(h.ready)
		s.release(h)
		return err
	}
	s.setOwner(h, owner)
	o := s.c.Base
	o.SessionID, o.Resume, o.After = info.SessionID, info.ProviderSessionID, closed.last
	o.Dir, o.Mode = cmp.Or(closed.dir, o.Dir), cmp.Or(closed.mode, o.Mode)
	return h.open(context.WithoutCancel(ctx), a, o)
}

// closedSession is what the log holds of a session that it has the end of.
type closedSession struct {
	last event.Position
	dir  string // in which the runtime worked last, and its permission mode: "" if it reports none
	mode string
}

// appendClosing appends the events that end a session, if its log does not end in
// session_end.
func (s *Server) appendClosing(ctx context.Context, id string) (closedSession, error) {
	open := leftOpen{}
	for e, err := range eventlog.All(ctx, s.c.Log, id, 0) {
		if err != nil {
			return closedSession{}, err
		}
		open.add(e)
	}
	closed := closedSession{open.last, open.dir, open.mode}
	if open.ended {
		return closed, nil
	}
	closing := open.closing(time.Now().UTC())
	if err := s.c.Log.Append(ctx, closing...); err != nil {
		return closedSession{}, err
	}
	closed.last.Seq = closing[len(closing)-1].Seq
	return closed, nil
}

// leftOpen tracks what the events of a session leave open.
type leftOpen struct {
	session string
	last    event.Position
	ts      time.Time
	turn    int // that runs, or 0
	ended   bool
	items   []openItem
	dir     string
	mode    string
}

// openItem is something open, with the event that closes it.
type openItem struct {
	kind, id string
	turn     int
	subagent string
	closed   event.Data
}

func (o *leftOpen) add(e event.Event) {
	o.session, o.ts, o.last.Seq = e.SessionID, e.TS, e.Seq
	o.last.Turn = max(o.last.Turn, e.Turn)
	o.ended = false
	switch d := e.Data.(type) {
	case event.SessionReady:
		o.items, o.turn = nil, 0
		o.dir, o.mode = cmp.Or(d.Cwd, o.dir), cmp.Or(d.Mode, o.mode)
	case event.ModeChanged:
		if e.SubagentID == "" {
			o.mode = cmp.Or(d.Value, o.mode)
		}
	case event.SessionEnd:
		o.items, o.turn, o.ended = nil, 0, true
	case event.TurnStart:
		o.turn = e.Turn
	case event.Done, event.Error:
		if e.SubagentID == "" && e.Turn == o.turn {
			o.turn = 0
		}
	case event.Delta:
		if d.BlockID != "" {
			o.open(e, "block", d.BlockID, event.BlockEnd{BlockID: d.BlockID, Status: event.BlockInterrupted})
		}
	case event.BlockEnd:
		o.close("block", d.BlockID)
	case event.Thinking:
		if d.Done {
			o.close("thinking", d.BlockID)
		} else if d.BlockID != "" {
			o.open(e, "thinking", d.BlockID, event.Thinking{Done: true, BlockID: d.BlockID})
		}
	case event.ToolStart:
		o.open(e, "tool", d.ToolUseID, event.ToolResult{ToolUseID: d.ToolUseID, Status: event.ToolInterrupted, IsError: true})
	case event.ToolResult:
		o.close("tool", d.ToolUseID)
	case event.PermissionRequest:
		o.open(e, "question", d.RequestID, event.PermissionResolved{RequestID: d.RequestID, ToolName: d.ToolName, Decision: event.DecisionCancel, By: event.ByWithdrawn})
	case event.PermissionResolved:
		o.close("question", d.RequestID)
	case event.Interrupt:
		o.open(e, "question", d.InterruptID, event.InterruptResolved{InterruptID: d.InterruptID, Value: event.Raw("null"), By: event.ByWithdrawn})
	case event.InterruptResolved:
		o.close("question", d.InterruptID)
	case event.Task:
		o.close("task", d.TaskID)
		if d.Status == event.TaskRunning {
			d.Status, d.Text, d.Usage = event.TaskInterrupted, "", nil
			o.open(e, "task", d.TaskID, d)
		}
	}
}

func (o *leftOpen) open(e event.Event, kind, id string, closed event.Data) {
	if !slices.ContainsFunc(o.items, func(i openItem) bool { return i.kind == kind && i.id == id }) {
		o.items = append(o.items, openItem{kind: kind, id: id, turn: e.Turn, subagent: e.SubagentID, closed: closed})
	}
}

func (o *leftOpen) close(kind, id string) {
	o.items = slices.DeleteFunc(o.items, func(i openItem) bool { return i.kind == kind && i.id == id })
}

// closing returns the events that end the session: everything open is closed, the
// running turn ends in an error, and the session ends.
func (o *leftOpen) closing(now time.Time) []event.Event {
	if now.Before(o.ts) {
		now = o.ts
	}
	var out []event.Event
	seq := o.last.Seq
	add := func(turn int, subagent string, d event.Data) {
		seq++
		out = append(out, event.Event{Data: d, TS: now, Seq: seq, SessionID: o.session, Turn: turn, SubagentID: subagent})
	}
	for _, tasks := range []bool{false, true} {
		for _, i := range o.items {
			if (i.kind == "task") != tasks {
				continue
			}
			turn := i.turn
			if turn != o.turn && i.subagent == "" {
				turn = 0 // its turn ended: nothing of it may follow
			}
			add(turn, i.subagent, i.closed)
		}
	}
	if o.turn != 0 {
		add(o.turn, "", event.Error{Message: "the server that ran the session ended while the turn ran", Code: event.ErrorCrash})
	}
	add(0, "", event.SessionEnd{Reason: "server_lost"})
	return out
}

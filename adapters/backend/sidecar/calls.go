package sidecar

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// clientTool is a tool of the client, as params has it.
type clientTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Schema      jsontext.Value `json:"schema"`
	ReadOnly    bool           `json:"read_only"`
}

// clientHook is a hook of the client, as params has it.
type clientHook struct {
	Event   string  `json:"event"`
	Matcher string  `json:"matcher"`
	Timeout float64 `json:"timeout_s"`
}

// clientCall is a call of a tool or a hook of the client, as its stream has it.
type clientCall struct {
	ID        string    `json:"id"`
	Tool      string    `json:"tool,omitempty"`
	Hook      *int      `json:"hook,omitempty"` // the index of the hook
	Input     event.Raw `json:"input,omitzero"`
	ToolUseID string    `json:"tool_use_id,omitempty"` // of the events of the call; "": the runtime sends none

	result chan callResult
}

// callResult is the body of the result of a call.
type callResult struct {
	Content []struct {
		Text  string `json:"text"`
		Image []byte `json:"image"` // base64
		MIME  string `json:"mime"`
	} `json:"content"` // of a tool
	IsError bool           `json:"is_error"`
	Output  jsontext.Value `json:"output"` // of a hook
	Error   string         `json:"error"`  // the tool or the hook failed
}

// calls are the calls of a session that wait for their results. The zero value is ready for use.
type calls struct {
	mu      sync.Mutex
	last    int
	open    map[string]*clientCall
	changed chan struct{} // closed when open changes; nil without a listener
}

// run waits for the result of a call until ctx is done.
func (c *calls) run(ctx context.Context, call clientCall) (callResult, error) {
	call.result = make(chan callResult, 1)
	c.mu.Lock()
	c.last++
	call.ID = "c" + strconv.Itoa(c.last)
	if c.open == nil {
		c.open = map[string]*clientCall{}
	}
	c.open[call.ID] = &call
	c.noteChange()
	c.mu.Unlock()
	defer c.dropCall(call.ID)
	select {
	case r := <-call.result:
		if r.Error != "" {
			return r, errors.New(r.Error)
		}
		return r, nil
	case <-ctx.Done():
		return callResult{}, ctx.Err()
	}
}

func (c *calls) dropCall(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, id)
	c.noteChange()
}

// noteChange wakes the listeners. The caller holds c.mu.
func (c *calls) noteChange() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// waiting returns the open calls, and a channel that is closed when they change.
func (c *calls) waiting() (open map[string]*clientCall, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return maps.Clone(c.open), c.changed
}

// answer delivers a result. It reports false if no such call waits.
func (c *calls) answer(id string, r callResult) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.open[id]
	if call == nil {
		return false
	}
	select {
	case call.result <- r:
		return true
	default:
		return false // it has a result
	}
}

// offer adds the tools and hooks of the client to the options of a session.
func (c *calls) offer(o *adapters.Options, tools []clientTool, hooks []clientHook) {
	o.Tools, o.Hooks = slices.Clip(o.Tools), slices.Clip(o.Hooks)
	for _, t := range tools {
		o.Tools = append(o.Tools, adapters.Tool{
			Name: t.Name, Description: t.Description, Schema: t.Schema, ReadOnly: t.ReadOnly,
			Call: func(ctx context.Context, call adapters.ToolCall) (adapters.ToolAnswer, error) {
				r, err := c.run(ctx, clientCall{Tool: t.Name, Input: call.Input, ToolUseID: call.ID})
				answer := adapters.ToolAnswer{IsError: r.IsError}
				for _, part := range r.Content {
					answer.Content = append(answer.Content, adapters.ToolContent{Text: part.Text, Image: part.Image, MIME: part.MIME})
				}
				return answer, err
			},
		})
	}
	for i, h := range hooks {
		o.Hooks = append(o.Hooks, adapters.Hook{
			Event: h.Event, Matcher: h.Matcher, Timeout: time.Duration(h.Timeout * float64(time.Second)),
			Call: func(ctx context.Context, input event.Raw) (event.Raw, error) {
				r, err := c.run(ctx, clientCall{Hook: &i, Input: input})
				return r.Output, err
			},
		})
	}
}

// callsOf returns a session whose runtime may call the client, also while it is being opened.
func (s *Server) callsOf(r *http.Request) (*hosted, error) {
	s.mu.Lock()
	h := s.hosted[r.PathValue("id")]
	s.mu.Unlock()
	if h == nil {
		return s.of(r)
	}
	return h, nil
}

// calls handles the stream of calls of the client's tools and hooks.
func (s *Server) calls(w http.ResponseWriter, r *http.Request) error {
	if s.isIdle(r.PathValue("id")) {
		return eventlog.ErrUnknownSession
	}
	h, err := s.callsOf(r)
	if err != nil {
		return err
	}
	st, release, err := s.openStream(w)
	if err != nil {
		return err
	}
	defer release()
	heartbeat := time.NewTicker(s.c.Heartbeat)
	defer heartbeat.Stop()
	sent := map[string]bool{}
	for {
		open, changed := h.calls.waiting()
		if sendCalls(st, open, sent) != nil {
			return nil
		}
		select {
		case <-changed:
		case <-heartbeat.C:
			if st.heartbeat() != nil {
				return nil
			}
		case <-h.ended:
			open, _ := h.calls.waiting()
			_ = sendCalls(st, open, sent)
			return nil
		case <-s.closing:
			return nil
		case <-r.Context().Done():
			return nil
		}
	}
}

// sendCalls sends the calls that are new, and the ids of those that do not wait any more.
func sendCalls(st *stream, open map[string]*clientCall, sent map[string]bool) error {
	for _, id := range slices.Sorted(maps.Keys(sent)) {
		if open[id] != nil {
			continue
		}
		delete(sent, id)
		if err := st.add(0, "end", map[string]string{"id": id}); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(open)) {
		if sent[id] {
			continue
		}
		sent[id] = true
		if err := st.add(0, "call", open[id]); err != nil {
			return err
		}
	}
	return st.flush()
}

// result takes the result of a call.
func (s *Server) result(w http.ResponseWriter, r *http.Request) error {
	h, err := s.callsOf(r)
	if err != nil {
		return err
	}
	var b callResult
	if err := readBody(r, &b); err != nil {
		return err
	}
	if id := r.PathValue("of"); !h.calls.answer(id, b) {
		return refuse(http.StatusNotFound, CodeUnknownID, "no call %.100q waits for a result", id)
	}
	answer(w, http.StatusAccepted, map[string]any{"ok": true})
	return nil
}

package acpagent

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// session is a session of the client.
type session struct {
	adapters.Session
	agent *agent
	id    acpsdk.SessionId
	named chan struct{} // closed when id is set
	ready chan string   // receives the runtime's id
	ended chan struct{} // closed after the last event

	mu         sync.Mutex
	messages   int
	turn       *turn
	translator translator
	asked      map[string]context.CancelFunc // requests that the client has not answered
}

// turn is a prompt that has no reply.
type turn struct {
	message string // the id of the prompt's message
	number  int    // of the turn that has the message; 0 until it begins
	reply   chan reply
}

// promptText returns the text of a prompt.
func promptText(blocks []acpsdk.ContentBlock) (string, error) {
	var out []string
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			out = append(out, b.Text.Text)
		case b.ResourceLink != nil:
			out = append(out, b.ResourceLink.Uri)
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			out = append(out, r.Uri+":\n"+r.Text)
		default:
			return "", errors.New("a prompt is text and links")
		}
	}
	return strings.Join(out, "\n"), nil
}

// prompt sends a message and waits for the end of its turn.
func (s *session) prompt(ctx context.Context, text string) (acpsdk.PromptResponse, error) {
	s.mu.Lock()
	if s.turn != nil {
		s.mu.Unlock()
		return acpsdk.PromptResponse{}, acpsdk.NewInvalidRequest(map[string]any{"error": "a prompt has no reply yet"})
	}
	s.messages++
	id := "m" + strconv.Itoa(s.messages)
	t := &turn{message: id, reply: make(chan reply, 1)}
	s.turn = t
	s.mu.Unlock()
	if err := s.Send(ctx, adapters.Message{ID: id, Text: text}); err != nil {
		s.fail(reply{err: acpsdk.NewInternalError(map[string]any{"error": err.Error()})})
	}
	select {
	case r := <-t.reply:
		return r.result()
	case <-s.ended:
	}
	select {
	case r := <-t.reply:
		return r.result()
	default:
		return acpsdk.PromptResponse{}, acpsdk.NewInternalError(map[string]any{"error": "the session has ended"})
	}
}

func (r reply) result() (acpsdk.PromptResponse, error) {
	if r.err != nil {
		return acpsdk.PromptResponse{}, r.err
	}
	return r.response, nil
}

// beginTurn notes the turn that has the message of the prompt. The runtime may have begun another
// one by itself before it.
func (s *session) beginTurn(number int, messages ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil && slices.Contains(messages, s.turn.message) {
		s.turn.number = number
	}
}

// fail replies to a prompt whose message was not sent.
func (s *session) fail(r reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		s.turn.reply <- r
		s.turn = nil
	}
}

// endTurn replies to the prompt of a turn. It returns when the reply is written, because the client would
// take the updates of a turn that the runtime begins after it for updates of this one.
func (s *session) endTurn(number int, r reply) {
	a := s.agent
	a.replying.Lock()
	defer a.replying.Unlock()
	select {
	case <-a.replied: // another error
	default:
	}
	s.mu.Lock()
	if s.turn == nil || s.turn.number != number {
		s.mu.Unlock()
		return // the runtime began the turn
	}
	s.turn.reply <- r
	s.turn = nil
	s.mu.Unlock()
	select {
	case <-a.replied:
	case <-a.conn.Done():
	case <-a.ctx.Done():
	}
}

// close ends the session, and returns when all its events were sent.
func (s *session) close(ctx context.Context) error {
	err := s.Close(ctx)
	<-s.ended
	return err
}

// follow sends updates for the events of the session.
func (s *session) follow() {
	defer close(s.ended)
	for e := range s.Events() {
		if d, is := e.Data.(event.SessionReady); is {
			select {
			case s.ready <- d.ProviderSessionID:
			default: // it was named before
			}
			continue
		}
		<-s.named
		s.handle(e)
	}
}

// handle sends the client what it receives for an event.
func (s *session) handle(e event.Event) {
	switch d := e.Data.(type) {
	case event.TurnStart:
		s.beginTurn(e.Turn, d.MessageIDs...)
	case event.UserMessage:
		s.beginTurn(e.Turn, d.MessageID)
	}
	s.mu.Lock()
	out := s.translator.translate(e)
	s.mu.Unlock()
	switch {
	case out.update != nil:
		s.update(*out.update)
	case out.request != nil:
		s.request(out.request)
	case out.resolved != "":
		s.forgetRequest(out.resolved)
	case out.reply != nil:
		s.endTurn(e.Turn, *out.reply)
	}
}

// update sends an update. The client may have left, which ends the session.
func (s *session) update(u acpsdk.SessionUpdate) {
	_ = s.agent.conn.SessionUpdate(s.agent.ctx, acpsdk.SessionNotification{SessionId: s.id, Update: u})
}

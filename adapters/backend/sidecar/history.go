package sidecar

import (
	"net/http"
	"strconv"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/window"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
)

// numberOf returns a number of the query, or the default.
func numberOf(r *http.Request, name string, byDefault, most int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return byDefault, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, refuse(http.StatusBadRequest, CodeInvalid, "%s=%.100s: it must be a number from 1 to %d", name, text, most)
	}
	return n, nil
}

// history answers with a page of stored events.
func (s *Server) history(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	after, _, err := cursorOf(r)
	if err != nil {
		return err
	}
	limit, err := numberOf(r, "limit", eventlog.PageEvents, 10_000)
	if err != nil {
		return err
	}
	info, err := s.stored(r.Context(), id)
	if err != nil {
		return err
	}
	events, err := s.c.Log.Read(r.Context(), id, after, limit)
	if err != nil {
		return err
	}
	if events == nil {
		events = []event.Event{}
	}
	next := after
	if len(events) > 0 {
		next = events[len(events)-1].Seq
	}
	answer(w, http.StatusOK, map[string]any{"events": events, "next": next, "last_seq": info.Last.Seq})
	return nil
}

// chat answers with the newest messages of a session. A client shows them and then
// listens to the events after last_seq.
func (s *Server) chat(w http.ResponseWriter, r *http.Request) error {
	n, err := numberOf(r, "messages", 50, 10_000)
	if err != nil {
		return err
	}
	if _, err := s.stored(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	win, err := window.Open(r.Context(), s.c.Log, r.PathValue("id"), n)
	if err != nil {
		return err
	}
	messages := win.Messages()
	older := len(messages) > n
	messages = messages[max(0, len(messages)-n):]
	if len(messages) > 0 {
		older = older || messages[0].Number > 1
	}
	view := win.View()
	chat := view.Head()
	chat.Messages = make([]replay.Message, len(messages))
	for i, m := range messages {
		chat.Messages[i] = *m
	}
	answer(w, http.StatusOK, map[string]any{"chat": chat, "last_seq": view.Seq(), "older": older})
	return nil
}

package chats

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// Stored reduces the stored events in the order of seq.
func Stored(r *conformance.Run) (*replay.Chat, error) {
	stored, err := r.Stored()
	if err != nil {
		return nil, err
	}
	return join(sessions(stored)), nil
}

// Shuffled reduces the stored events in reverse order, because a store may return
// them in any order.
func Shuffled(r *conformance.Run) (*replay.Chat, error) {
	stored, err := r.Stored()
	if err != nil {
		return nil, err
	}
	ids, of := sessions(stored)
	for _, events := range of {
		slices.Reverse(events)
	}
	return join(ids, of), nil
}

// Reopened reduces the stored events as a client does that opens a chat repeatedly:
// it starts from a snapshot with the newest messages and adds the later events, some
// of which the store returns twice. got holds its chat after each opening and at the
// end. want holds the same messages as reduced by a client that never closed the
// chat. The options are those of the reducers.
func Reopened(r *conformance.Run, newest int, options ...replay.Option) (want, got []*replay.Chat, err error) {
	stored, err := r.Stored()
	if err != nil {
		return nil, nil, err
	}
	ids, of := sessions(stored)
	for _, id := range ids {
		w, g, err := reopened(of[id], newest, options)
		if err != nil {
			return nil, nil, err
		}
		want, got = append(want, w...), append(got, g...)
	}
	return want, got, nil
}

// visits is how often Reopened opens the chat, and again how many events the store
// returns twice at each opening.
const visits, again = 4, 3

func reopened(events []event.Event, newest int, options []replay.Option) (want, got []*replay.Chat, err error) {
	stays, at, step := replay.New(options...), replay.New(options...), max(1, len(events)/visits)
	seen := func(first int) {
		want, got = append(want, from(first, stays.Chat())), append(got, from(at.First(), at.Chat()))
	}
	for i, e := range events {
		if i > 0 && i%step == 0 {
			// A message that the client has loaded may vanish since. Then it shows fewer.
			first := at.First()
			if kept := at.View().Last(newest); len(kept) == newest {
				first = max(first, kept[0].Number)
			}
			data, err := at.Snapshot(newest)
			if err != nil {
				return nil, nil, err
			}
			if at, err = replay.Restore(data, options...); err != nil {
				return nil, nil, err
			}
			seen(first)
			for _, e := range events[max(0, i-again):i] {
				at.Add(e)
			}
		}
		at.Add(e)
		stays.Add(e)
	}
	seen(at.First())
	return want, got, nil
}

// from removes the messages with a number below first from the chat and returns it.
func from(first int, c *replay.Chat) *replay.Chat {
	c.Messages = slices.DeleteFunc(c.Messages, func(m replay.Message) bool { return m.Number < first })
	return c
}

// join reduces the events of each session and joins the messages of the chats.
func join(ids []string, of map[string][]event.Event) *replay.Chat {
	out := replay.New().Chat()
	for i, id := range ids {
		if c := replay.Reduce(of[id]); i == 0 {
			out = c
		} else {
			out.Messages = append(out.Messages, c.Messages...)
		}
	}
	return out
}

// sessions returns the ids of the sessions, in the order of their first events, and the
// events of each. A fork is a separate session.
func sessions(events []event.Event) (ids []string, of map[string][]event.Event) {
	of = map[string][]event.Event{}
	for _, e := range events {
		if of[e.SessionID] == nil {
			ids = append(ids, e.SessionID)
		}
		of[e.SessionID] = append(of[e.SessionID], e)
	}
	return ids, of
}

package judge

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/replay"
	"github.com/turnspec/turnspec/conformance"
)

// Chat reduces the stored events in the order of seq.
func Chat(r *conformance.Run) (*replay.Chat, error) {
	stored, err := r.Stored()
	if err != nil {
		return nil, err
	}
	return reduced(stored), nil
}

// Shuffled reduces the stored events in reverse order, because a store may return
// them in any order.
func Shuffled(r *conformance.Run) (*replay.Chat, error) {
	stored, err := r.Stored()
	if err != nil {
		return nil, err
	}
	c := chats{}
	for _, e := range stored {
		c.keep(e)
	}
	for _, events := range c.history {
		slices.Reverse(events)
	}
	return c.stored(), nil
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
	var c chats
	for _, e := range stored {
		c.keep(e)
	}
	for _, id := range c.ids {
		w, g, err := reopened(c.history[id], newest, options)
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

func reduced(stored []event.Event) *replay.Chat {
	var c chats
	for _, e := range stored {
		c.keep(e)
	}
	return c.stored()
}

// chats holds the chats of a run's sessions. A fork is a separate session.
type chats struct {
	ids     []string
	live    map[string]*replay.Reducer
	history map[string][]event.Event
}

func (c *chats) meet(id string) {
	if c.live == nil {
		c.live, c.history = map[string]*replay.Reducer{}, map[string][]event.Event{}
	}
	if c.live[id] == nil {
		c.ids = append(c.ids, id)
		c.live[id] = replay.New()
	}
}

// add adds an emitted event to the live chat of its session.
func (c *chats) add(e event.Event) {
	c.meet(e.SessionID)
	c.live[e.SessionID].Add(e)
}

// keep adds a stored event to the history of its session.
func (c *chats) keep(e event.Event) {
	c.meet(e.SessionID)
	c.history[e.SessionID] = append(c.history[e.SessionID], e)
}

// stored reduces the stored events and joins the chats in the order of the sessions.
func (c *chats) stored() *replay.Chat {
	return c.join(func(id string) *replay.Chat { return replay.Reduce(c.history[id]) })
}

func (c *chats) join(of func(id string) *replay.Chat) *replay.Chat {
	if len(c.ids) == 0 {
		return replay.New().Chat()
	}
	out := of(c.ids[0])
	for _, id := range c.ids[1:] {
		out.Messages = append(out.Messages, of(id).Messages...)
	}
	return out
}

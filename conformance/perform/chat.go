package perform

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/replay"
)

// liveChats reduces events as they arrive, one chat a session: a fork is another
// session. It must not wait until the run is over, because a subject may change
// an event after the listener has received it.
type liveChats struct {
	ids      []string // in the order of the first event
	reducers map[string]*replay.Reducer
}

func (c *liveChats) addEvent(e event.Event) {
	r := c.reducers[e.SessionID]
	if r == nil {
		if c.reducers == nil {
			c.reducers = map[string]*replay.Reducer{}
		}
		r = replay.New()
		c.ids, c.reducers[e.SessionID] = append(c.ids, e.SessionID), r
	}
	r.Add(e)
}

// join returns the messages of all chats, one session after the other.
func (c *liveChats) join() *replay.Chat {
	if len(c.ids) == 0 {
		return replay.New().Chat()
	}
	out := c.reducers[c.ids[0]].Chat()
	for _, id := range c.ids[1:] {
		out.Messages = append(out.Messages, c.reducers[id].Chat().Messages...)
	}
	return out
}

package codex

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// sibling is a thread of another conversation on this connection: another client
// opened it, or the client of a transcript did.
type sibling struct {
	id, forkedFrom string
	th             *thread // its state, if it was the session's thread before
	noticed        bool    // a notice reported that its lines are left out
}

// handleThreadStarted opens a transcript. Later it reports a sibling; sub-agents
// send none.
func (t *translator) handleThreadStarted(o lenient.Opt[threadInfo]) {
	th := o.V
	if th == nil || th.ParentThreadID != "" {
		return
	}
	switch id := string(th.ID); {
	case t.main == nil && t.live == nil:
		t.threadOpened(&result{Thread: o}, false, string(th.ForkedFromID), "")
	case t.main == nil, id == t.main.id, id == "":
	default:
		t.addSibling(&result{Thread: o})
	}
}

// addSibling records a thread of another conversation. A sub-agent's is none.
func (t *translator) addSibling(r *result) {
	id := string(r.Thread.V.ID)
	if t.siblingOf(id) != nil || r.Thread.V.ParentThreadID != "" ||
		slices.ContainsFunc(t.subs, func(s *thread) bool { return s.id == id && s.toolUse != "" }) {
		return
	}
	if len(t.siblings) >= maxSubs {
		t.siblings = slices.Delete(t.siblings, 0, 1)
	}
	t.siblings = append(t.siblings, newSibling(r))
}

func (t *translator) siblingOf(id string) *sibling {
	for _, s := range t.siblings {
		if s.id == id {
			return s
		}
	}
	return nil
}

// isForeign reports whether a line belongs to a sibling, and is left out. A live
// session leaves out such lines silently, because the client that opened the thread
// reads them. In a transcript, a notice reports it once for each sibling, and the
// conversation goes on in a fork, and back in its source, whenever the other of the
// two rests.
func (t *translator) isForeign(threadID, method string) bool {
	if len(t.siblings) == 0 {
		return false
	}
	s := t.siblingOf(threadID)
	if s == nil {
		return false
	}
	works := strings.HasPrefix(method, "turn/") || strings.HasPrefix(method, "item/")
	if t.live != nil || !works {
		return true
	}
	if !t.main.running && (method == "turn/started" || method == "item/started" && s.th == nil && !s.noticed) && (s.forkedFrom == t.main.id || t.opened.forkedFrom == s.id) {
		t.goOnIn(s)
		return false
	}
	if !s.noticed {
		s.noticed = true
		t.l.Notice(event.LevelWarning, event.NoticeWarning,
			"thread "+s.id+" is another conversation on this connection; its messages are left out", nil)
	}
	return true
}

// goOnIn makes a sibling the thread of the session, and the session's a sibling.
func (t *translator) goOnIn(s *sibling) {
	t.siblings = slices.DeleteFunc(t.siblings, func(x *sibling) bool { return x == s })
	old := t.opened
	old.th = t.main
	t.siblings = append(t.siblings, &old)
	t.opened = *s
	if t.main = s.th; t.main == nil {
		t.main = &thread{id: s.id}
	}
	t.l.Notice(event.LevelInfo, event.NoticeWarning, "the conversation goes on in thread "+s.id, nil)
}

func newSibling(r *result) *sibling {
	return &sibling{id: string(r.Thread.V.ID), forkedFrom: string(r.Thread.V.ForkedFromID)}
}

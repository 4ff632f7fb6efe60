package session

import (
	"fmt"
	"maps"
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// comparison compares the events of a process with those of its transcript.
type comparison struct {
	finding *conformance.Finding
	names   map[string]string // ids of the transcript, by those of the session, and back
	added   []string          // the keys of names that the event in hand has added
	// same are events that are equal in both and whose ids names lacks. They need not be
	// decoded as long as no id has another name in the transcript.
	same    []*comparedEvent
	renamed bool // an id has another name in the transcript
	// mintsCalls reports that an adapter may choose the ids of calls: those of the runtime begin
	// again with each process.
	mintsCalls bool
}

// compare demands that the transcript has the events of the session, as far as the
// rules do not allow a difference.
func (c *comparison) compare(session, transcript []*comparedEvent) {
	session, sessionApart := splitApart(session)
	transcript, transcriptApart := splitApart(transcript)
	for i := range session {
		c.finding.Asserted(1)
		if i == len(transcript) {
			c.finding.At(session[i].Event, "the transcript lacks %s", session[i].text)
			return
		}
		if why := c.differs(session[i], transcript[i]); why != "" {
			c.finding.At(session[i].Event, "the transcript gives another event: %s", why)
			p := &c.finding.Problems[len(c.finding.Problems)-1]
			p.Want, p.Got = session[i].text, transcript[i].text
			p.Diff = conformance.Diff("session", p.Want+"\n", "transcript", p.Got+"\n")
			return
		}
	}
	if len(transcript) > len(session) {
		e := transcript[len(session)]
		c.finding.At(e.Event, "the session did not emit what the transcript gives: %s", e.text)
		return
	}
	c.compareApart(session, sessionApart, transcriptApart)
}

// splitApart separates the events that may come at another place.
func splitApart(events []*comparedEvent) (inOrder, others []*comparedEvent) {
	for _, e := range events {
		switch transcriptRuleOf(e.Type(), "", e.text) {
		case apart, optional, either:
			others = append(others, e)
		default:
			inOrder = append(inOrder, e)
		}
	}
	return inOrder, others
}

// compareApart demands that each event of the transcript is one of the session's, and
// that it has those that it must have.
func (c *comparison) compareApart(inOrder, session, transcript []*comparedEvent) {
	session = slices.Clone(session)
	for _, e := range transcript {
		c.finding.Asserted(1)
		why := ""
		i := slices.IndexFunc(session, func(s *comparedEvent) bool {
			if s.Type() != e.Type() {
				return false
			}
			why = c.differs(s, e)
			return why == ""
		})
		switch {
		case i >= 0:
			session = slices.Delete(session, i, i+1)
		case transcriptRuleOf(e.Type(), "", e.text+c.turnOf(inOrder, e)) == either:
		default:
			c.finding.At(e.Event, "the session did not emit what the transcript gives: %s; %s", e.text, why)
			return
		}
	}
	for _, e := range session {
		if transcriptRuleOf(e.Type(), "", e.text) == apart {
			c.finding.At(e.Event, "the transcript lacks %s", e.text)
			return
		}
	}
}

// turnOf returns ofCommand if the session's turn of an event of the transcript has that
// cause.
func (c *comparison) turnOf(session []*comparedEvent, e *comparedEvent) string {
	c.bindSame()
	for i := range session {
		if d, ok := session[i].Data.(event.TurnStart); ok && d.Cause == event.CauseCommand && c.sameName("turn", session[i].member("turn"), e.member("turn")) {
			return ofCommand
		}
	}
	return ""
}

// differs returns how an event of a transcript differs from the session's, or "".
func (c *comparison) differs(session, transcript *comparedEvent) string {
	if session.Type() != transcript.Type() {
		return fmt.Sprintf("%s instead of %s", transcript.Type(), session.Type())
	}
	if session.canonical == transcript.canonical && !c.renamed {
		c.same = append(c.same, session)
		return ""
	}
	c.bindSame()
	c.added = c.added[:0]
	renamed := c.renamed
	why := c.memberDiffers(session, transcript)
	if why != "" {
		for _, name := range c.added {
			delete(c.names, name)
		}
		c.renamed = renamed
	}
	return why
}

// bindSame adds the ids of the equal events to names.
func (c *comparison) bindSame() {
	for _, e := range c.same {
		c.memberDiffers(e, e)
	}
	c.same = c.same[:0]
}

func (c *comparison) memberDiffers(session, transcript *comparedEvent) string {
	for _, m := range []string{"turn", "subagent_id"} {
		if x, y := session.member(m), transcript.member(m); !c.sameName(m, x, y) {
			return fmt.Sprintf("%s is %v instead of %v", m, y, x)
		}
	}
	members := maps.Clone(session.data())
	if members == nil {
		members = map[string]any{}
	}
	maps.Copy(members, transcript.data())
	for _, m := range slices.Sorted(maps.Keys(members)) {
		x, y := session.data()[m], transcript.data()[m]
		switch transcriptRuleOf(session.Type(), m, session.text) {
		case mayVary:
			continue
		case mayLack:
			if isEmpty(x) || isEmpty(y) {
				continue
			}
		}
		if !c.sameValue(m, x, y) {
			return fmt.Sprintf("%s is %s instead of %s", m, runindex.Clip(fmt.Sprint(y)), runindex.Clip(fmt.Sprint(x)))
		}
	}
	return ""
}

func isEmpty(v any) bool {
	list, isList := v.([]any)
	return v == nil || v == "" || v == false || isList && len(list) == 0
}

// sameValue compares values. Ids that an adapter may choose are compared as names.
func (c *comparison) sameValue(member string, session, transcript any) bool {
	switch x := session.(type) {
	case map[string]any:
		y, ok := transcript.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for m := range x {
			if !c.sameValue(m, x[m], y[m]) {
				return false
			}
		}
		return true
	case []any:
		y, ok := transcript.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !c.sameValue(member, x[i], y[i]) {
				return false
			}
		}
		return true
	}
	if slices.Contains(mintedIDs, member) || c.mintsCalls && member == "tool_use_id" {
		return c.sameName(member, session, transcript)
	}
	return session == transcript
}

// sameName reports whether two ids may name the same thing: either both are new, or
// they have named each other before.
func (c *comparison) sameName(kind string, session, transcript any) bool {
	if session == nil || transcript == nil {
		return session == transcript
	}
	if kind == "message_ids" {
		kind = "message_id"
	}
	x, y := fmt.Sprint("session ", kind, " ", session), fmt.Sprint("transcript ", kind, " ", transcript)
	if c.names[x] == "" && c.names[y] == "" {
		c.names[x], c.names[y] = y, x
		c.added = append(c.added, x, y)
		c.renamed = c.renamed || session != transcript
	}
	return c.names[x] == y && c.names[y] == x
}

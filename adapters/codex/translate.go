package codex

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// translator turns the runtime's lines into events. It serves the live adapter
// and the Normalizer; what only a client can know comes from live, which is nil
// in a transcript.
type translator struct {
	l       *ledger.Ledger
	m       message
	main    *thread
	subs    []*thread
	foreign []string // threads that are others' affair; bounded
	asks    []*ask
	version string
	model   string // in force
	mode    string
	asked   []string // turns that a request asked for, as replies tell; bounded
	begun   bool     // the handshake was seen: a turn that nobody asked for is one
	another bool     // a further process has begun
	live    *client
}

// line handles one line of stdout. The ledger has been told the time.
func (t *translator) line(b []byte) {
	if blank(b) {
		return
	}
	m := &t.m
	if err := m.decode(b); err != nil {
		if v := jsontext.Value(b); v.IsValid(asItCame) {
			t.unknown(b)
			return
		}
		t.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeGarbage,
			Text: fmt.Sprintf("a line is not JSON and was skipped: %.200q", b)})
		return
	}
	switch {
	case m.Method.set && ours[m.Method.s], !m.Method.set && m.Result.v.echo(),
		!m.Method.set && m.Error.v != nil && m.Error.v.Message == refusal:
		// An echo of the client is nobody's message.
	case m.Method.set && len(m.ID) > 0:
		t.request(b)
	case m.Method.set:
		t.notification(b)
	case len(m.ID) > 0 && t.live != nil:
		t.live.response(b)
	case len(m.ID) > 0 && (m.Result.v != nil || m.Error.v != nil):
		t.seen()
	default:
		t.unknown(b)
	}
}

func blank(b []byte) bool {
	for _, c := range b {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// unknown passes a message on that this adapter does not know. It ends nothing.
func (t *translator) unknown(b []byte) {
	what := t.m.Method.val()
	if what == "" {
		what = "a message"
	}
	t.l.Emit(event.Notice{Level: event.LevelInfo, Code: event.NoticeUnknownMessage,
		Text: what + " is not known to this adapter", Raw: event.Raw(b).Clone()})
}

// seen takes what a transcript's replies tell, by their shape: the requests are
// not there.
func (t *translator) seen() {
	r := t.m.Result.v
	switch {
	case r == nil:
	case r.UserAgent != "":
		t.version = versionOf(string(r.UserAgent))
		t.another = t.main != nil
		for _, th := range append(t.subs, t.main) {
			if th != nil {
				th.past = nil // another process, which may count its turns anew
			}
		}
	case r.Thread.v != nil && r.Thread.v.ID != "":
		t.begun = true
		t.opened(r, false, "", "")
	case r.Turn.v != nil:
		t.ask4(string(r.Turn.v.ID))
	}
}

// ask4 remembers that a request asked for a turn.
func (t *translator) ask4(id string) {
	if len(t.asked) >= 16 {
		t.asked = append(t.asked[:0], t.asked[1:]...)
	}
	t.asked = append(t.asked, id)
}

// opened takes the reply to thread/start, resume or fork.
func (t *translator) opened(r *result, resumed bool, forkedFrom, mode string) {
	th := r.Thread.v
	id := string(th.ID)
	switch {
	case t.main == nil:
		t.main = newThread(id)
	case string(th.ForkedFromID) == t.main.id && th.ParentThreadID == "":
		t.main = newThread(id) // the conversation goes on in the fork
	case t.another:
		t.main = newThread(id) // another process: nothing of the last one goes on
	}
	t.another = false
	pick := func(a, b str) string {
		if a != "" {
			return string(a)
		}
		return string(b)
	}
	version := t.version
	if version == "" {
		version = string(th.CLIVersion)
	}
	if t.main.id == id {
		t.model, t.mode = pick(r.Model, th.Model), mode
		t.l.SessionReady(event.SessionReady{
			Runtime: "codex", RuntimeVersion: version, ProviderSessionID: id, Resumed: resumed,
			ForkedFrom: forkedFrom, Model: pick(r.Model, th.Model), Cwd: pick(r.Cwd, th.Cwd), Mode: mode,
		})
	}
}

// versionOf reads the version in "name/0.169.0 (Debian 12; x86_64) …".
func versionOf(agent string) string {
	_, v, _ := strings.Cut(agent, "/")
	v, _, _ = strings.Cut(v, " ")
	return v
}

// thread finds the thread of a line: the session's own, or a sub-agent's.
func (t *translator) thread(id string) *thread {
	if t.main == nil {
		// A transcript that begins in the middle: the first thread is the one.
		t.main = newThread(id)
		t.l.SessionReady(event.SessionReady{Runtime: "codex", RuntimeVersion: t.version, ProviderSessionID: id})
	}
	if id == "" || id == t.main.id {
		return t.main
	}
	for _, s := range t.subs {
		if s.id == id {
			return s
		}
	}
	if len(t.subs) >= maxSubs {
		t.forget()
	}
	s := newThread(id)
	s.sub = true
	t.subs = append(t.subs, s)
	return s
}

// threadStarted opens a transcript. Later it tells of a thread that somebody
// else opened on this connection: sub-agents have none.
func (t *translator) threadStarted(o opt[threadInfo]) {
	th := o.v
	if th == nil || th.ParentThreadID != "" {
		return
	}
	id := string(th.ID)
	switch {
	case t.main == nil && t.live == nil:
		t.opened(&result{Thread: o}, false, string(th.ForkedFromID), "")
	case t.main == nil, id == t.main.id, id == "", string(th.ForkedFromID) == t.main.id:
	case slices.ContainsFunc(t.subs, func(s *thread) bool { return s.id == id && s.toolUse != "" }):
	default:
		if t.foreign = append(t.foreign, id); len(t.foreign) > maxSubs {
			t.foreign = slices.Delete(t.foreign, 0, 1)
		}
	}
}

// others reports whether a thread is not of this session, nor a sub-agent of it.
func (t *translator) others(id string) bool {
	return len(t.foreign) > 0 && slices.Contains(t.foreign, id)
}

// forget drops the sub-agent that has been at rest for longest, if one is.
func (t *translator) forget() {
	for i, s := range t.subs {
		if !s.on && len(s.background) == 0 && !t.l.TaskOpen(s.id) {
			t.subs = slices.Delete(t.subs, i, i+1)
			return
		}
	}
}

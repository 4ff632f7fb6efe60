package codex

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// translator converts the runtime's lines to events. The live adapter and
// transcripts share it. live is nil in a transcript.
type translator struct {
	l              *ledger.Ledger
	m              message
	main           *thread
	subs           []*thread
	siblings       []*sibling // threads of other conversations on this connection; bounded
	opened         sibling    // how the session's thread was opened
	questions      session.Questions[*question]
	version        string
	model          string // in force
	mode           string
	requestedTurns []string // turns that a request started, from replies; bounded
	handshakeSeen  bool     // the handshake was seen, so a turn without a request is a command's
	newProcess     bool     // another process has started
	formKnown      bool     // work of a turn was seen in a form that is read, or a notice reported the old one
	live           *client
}

// handleLine handles one line of stdout. The caller has set the ledger's time.
func (t *translator) handleLine(b []byte) {
	if len(bytes.Trim(b, " \t\r")) == 0 {
		return
	}
	m := &t.m
	if err := m.decodeLine(b); err != nil {
		t.l.Unreadable(b)
		return
	}
	switch {
	case m.Method.set && clientMethods[m.Method.s], !m.Method.set && m.Result.V.isEcho(),
		!m.Method.set && m.Error.V != nil && m.Error.V.Message == refusal:
		// An echo of the client's own line.
	case m.Method.set && len(m.ID) > 0:
		t.handleRequest(b)
	case m.Method.set:
		t.handleNotification(b)
	case len(m.ID) > 0 && t.live != nil:
		t.live.handleResponse(b)
	case len(m.ID) > 0 && (m.Result.V != nil || m.Error.V != nil):
		t.handleTranscriptReply()
	default:
		t.l.Unknown(t.m.Method.val(), b)
	}
}

// handleTranscriptReply handles a reply in a transcript by its shape, because
// the requests are missing.
func (t *translator) handleTranscriptReply() {
	r := t.m.Result.V
	switch {
	case r == nil:
	case r.UserAgent != "":
		t.version = versionOf(string(r.UserAgent))
		t.newProcess = t.main != nil
		for _, th := range append(t.subs, t.main) {
			if th != nil {
				th.endedTurns = nil // another process may count its turns from the start
			}
		}
	case r.Thread.V != nil && r.Thread.V.ID != "":
		t.handshakeSeen = true
		t.threadOpened(r, false, "", "")
	case r.Turn.V != nil:
		t.recordRequestedTurn(string(r.Turn.V.ID))
	}
}

// recordRequestedTurn records that a request started a turn.
func (t *translator) recordRequestedTurn(id string) {
	if len(t.requestedTurns) >= 16 {
		t.requestedTurns = append(t.requestedTurns[:0], t.requestedTurns[1:]...)
	}
	t.requestedTurns = append(t.requestedTurns, id)
}

// threadOpened handles the reply to thread/start, thread/resume or thread/fork. In
// a transcript, the first thread is the session's; others are siblings.
func (t *translator) threadOpened(r *result, resumed bool, forkedFrom, mode string) {
	th := r.Thread.V
	id := string(th.ID)
	if t.main != nil && t.main.id != id && !t.newProcess {
		t.addSibling(r)
		return
	}
	if t.main == nil || t.newProcess {
		t.main = &thread{id: id}
		t.siblings, t.opened = nil, *newSibling(r)
	}
	t.newProcess = false
	t.model, t.mode = string(cmp.Or(r.Model, th.Model)), mode
	t.l.SessionReady(event.SessionReady{
		Runtime: "codex", RuntimeVersion: cmp.Or(t.version, string(th.CLIVersion)), ProviderSessionID: string(th.ID), Resumed: resumed,
		ForkedFrom: forkedFrom, Model: t.model, Cwd: string(cmp.Or(r.Cwd, th.Cwd)), Mode: mode,
	})
}

// versionOf returns the version in "name/0.169.0 (Debian 12; x86_64) …".
func versionOf(agent string) string {
	_, v, _ := strings.Cut(agent, "/")
	v, _, _ = strings.Cut(v, " ")
	return v
}

// minorVersion returns 169 for 0.169.0. An unknown version is newer than all.
func minorVersion(version string) int {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	if n, err := strconv.Atoi(minor); err == nil && major == "0" {
		return n
	}
	return math.MaxInt
}

// threadOf returns the thread of a line: the session's own, or a sub-agent's.
func (t *translator) threadOf(id string) *thread {
	if t.main == nil {
		// In a transcript that begins in the middle, the first thread is the
		// session's.
		t.main = &thread{id: id, late: true}
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
		t.evictSubagent()
	}
	s := &thread{id: id, sub: true}
	t.subs = append(t.subs, s)
	return s
}

// evictSubagent removes the sub-agent that has been idle longest, if any is
// idle.
func (t *translator) evictSubagent() {
	for i, s := range t.subs {
		if !s.running && len(s.background) == 0 && !t.l.TaskOpen(s.id) {
			t.subs = slices.Delete(t.subs, i, i+1)
			return
		}
	}
}

package codex_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
)

// transcriptThread writes lines of a thread.
type transcriptThread struct{ id, forkedFrom string }

func (th transcriptThread) opened(request int) string {
	from := "null"
	if th.forkedFrom != "" {
		from = `"` + th.forkedFrom + `"`
	}
	info := fmt.Sprintf(`{"id":%q,"forkedFromId":%s,"parentThreadId":null}`, th.id, from)
	return fmt.Sprintf(`{"id":%d,"result":{"thread":%s}}`, request, info) + "\n" + fmt.Sprintf(`{"method":"thread/started","params":{"thread":%s}}`, info)
}

func (th transcriptThread) begin(turn string) string {
	return fmt.Sprintf(`{"id":7,"result":{"turn":{"id":%q}}}`, turn) + "\n" +
		fmt.Sprintf(`{"method":"turn/started","params":{"threadId":%q,"turn":{"id":%q}}}`, th.id, turn)
}

func (th transcriptThread) message(turn, id, text string) string {
	return fmt.Sprintf(`{"method":"item/started","params":{"threadId":%[1]q,"turnId":%[2]q,"item":{"type":"agentMessage","id":%[3]q,"text":""}}}
{"method":"item/agentMessage/delta","params":{"threadId":%[1]q,"turnId":%[2]q,"itemId":%[3]q,"delta":%[4]q}}
{"method":"item/completed","params":{"threadId":%[1]q,"turnId":%[2]q,"item":{"type":"agentMessage","id":%[3]q,"text":%[4]q}}}`, th.id, turn, id, text)
}

func (th transcriptThread) end(turn string) string {
	return fmt.Sprintf(`{"method":"turn/completed","params":{"threadId":%q,"turn":{"id":%q,"status":"completed"}}}`, th.id, turn)
}

func normalizeText(lines ...string) []event.Event {
	var b [][]byte
	for _, l := range append([]string{`{"id":1,"result":{"userAgent":"x/0.169.0 (y)"}}`}, strings.Split(strings.Join(lines, "\n"), "\n")...) {
		b = append(b, []byte(l))
	}
	return normalize(b)
}

// about returns the text of each turn, and the notices. A sub-agent is an error.
func about(g Gomega, evs []event.Event) (turns, notices []string) {
	for _, e := range evs {
		g.Expect(e.SubagentID).To(BeEmpty())
		switch d := e.Data.(type) {
		case event.TurnStart:
			turns = append(turns, "")
		case event.Delta:
			turns[len(turns)-1] += d.Text
		case event.Notice:
			notices = append(notices, d.Text)
		case event.Task, event.Error:
			g.Expect(d).To(BeNil(), "%+v", e)
		}
	}
	return turns, notices
}

// The messages of another conversation on the connection are left out, and one
// notice says so.
func TestAnotherConversationIsReportedOnce(t *testing.T) {
	g := NewWithT(t)
	a, b := transcriptThread{id: "A"}, transcriptThread{id: "B"}
	turns, notices := about(g, normalizeText(
		a.opened(2), b.opened(3), a.begin("a1"), b.begin("b1"), a.message("a1", "m1", "one "), b.message("b1", "m1", "foreign"),
		b.end("b1"), a.message("a1", "m2", "two"), a.end("a1"), b.begin("b2"), b.message("b2", "m2", "foreign"), b.end("b2"),
		a.begin("a2"), a.message("a2", "m3", "three"), a.end("a2")))
	g.Expect(turns).To(Equal([]string{"one two", "three"}))
	g.Expect(notices).To(HaveExactElements(ContainSubstring("thread B is another conversation")))
}

// The conversation goes on in a fork and comes back to its source, which is no
// sub-agent of it.
func TestConversationGoesOnInForkAndBack(t *testing.T) {
	g := NewWithT(t)
	a, b := transcriptThread{id: "A"}, transcriptThread{id: "B", forkedFrom: "A"}
	turns, notices := about(g, normalizeText(
		a.opened(2), a.begin("a1"), a.message("a1", "m1", "one"), a.end("a1"),
		b.opened(3), a.begin("a2"), a.message("a2", "m2", "two"), a.end("a2"),
		b.begin("b1"), b.message("b1", "m3", "fork"), b.end("b1"),
		a.begin("a3"), a.message("a3", "m4", "three"), a.end("a3")))
	g.Expect(turns).To(Equal([]string{"one", "two", "fork", "three"}))
	g.Expect(notices).To(Equal([]string{"the conversation goes on in thread B", "the conversation goes on in thread A"}))
}

// A fork that works beside its source is another conversation as long as the source
// works.
func TestForkBesideItsSourceIsLeftOut(t *testing.T) {
	g := NewWithT(t)
	a, b := transcriptThread{id: "A"}, transcriptThread{id: "B", forkedFrom: "A"}
	turns, notices := about(g, normalizeText(
		a.opened(2), a.begin("a1"), b.opened(3), b.begin("b1"), b.message("b1", "m1", "fork"), a.message("a1", "m1", "one"), a.end("a1"), b.end("b1"),
		a.begin("a2"), a.message("a2", "m2", "two"), a.end("a2")))
	g.Expect(turns).To(Equal([]string{"one", "two"}))
	g.Expect(notices).To(HaveLen(1))
}

// Messages without item ids are different messages if a tool ran between them.
func TestMessagesWithoutIDsKeepTheirText(t *testing.T) {
	const at = `"threadId":"A","turnId":"t"`
	started := `{"method":"item/started","params":{` + at + `,"item":{"type":"agentMessage","text":""}}}`
	delta := func(text string) string {
		return `{"method":"item/agentMessage/delta","params":{` + at + `,"delta":"` + text + `"}}`
	}
	completed := func(text string) string {
		return `{"method":"item/completed","params":{` + at + `,"item":{"type":"agentMessage","text":"` + text + `"}}}`
	}
	command := func(method, status string) string {
		return `{"method":"` + method + `","params":{` + at + `,"item":{"type":"commandExecution","id":"c1","command":"ls","status":"` + status + `"}}}`
	}
	a := transcriptThread{id: "A"}
	for name, message := range map[string]func(string) []string{
		"whole":   func(s string) []string { return []string{started, delta(s), completed(s)} },
		"no end":  func(s string) []string { return []string{started, delta(s)} },
		"deltas":  func(s string) []string { return []string{delta(s)} },
		"ends":    func(s string) []string { return []string{completed(s)} },
		"no head": func(s string) []string { return []string{delta(s), completed(s)} },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			lines := append([]string{a.begin("t")}, message("first")...)
			lines = append(lines, command("item/started", "inProgress"), command("item/completed", "completed"))
			lines = append(append(lines, message("second")...), a.end("t"))
			text, _ := visible(normalizeText(lines...))
			g.Expect(text).To(Equal("firstsecond"))
			blocks := map[string]string{}
			for _, e := range normalizeText(lines...) {
				if d, ok := e.Data.(event.Delta); ok {
					blocks[d.BlockID] += d.Text
				}
			}
			g.Expect(blocks).To(HaveLen(2))
		})
	}
}

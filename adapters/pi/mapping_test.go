package pi_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/pi"
	"github.com/turnspec/turnspec/fixtures"
)

// Each entry has either an event or a reason, occurs once, and is in doc.go.
func TestMappingAgreesWithDoc(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range pi.New().Mapping() {
		id := m.Kind + " " + m.Name
		switch {
		case (m.Event == "") == (m.Ignored == ""):
			t.Errorf("%s: want an event, or a reason why there is none", id)
		case seen[id]:
			t.Errorf("%s is in the table twice", id)
		case !regexp.MustCompile(`\b` + m.Name + `\b`).Match(doc):
			t.Errorf("doc.go lacks %s", id)
		}
		seen[id] = true
	}
}

// What the table has never becomes a notice of an unknown message.
func TestKnownMessagesAreKnown(t *testing.T) {
	g := NewWithT(t)
	for _, m := range pi.New().Mapping() {
		var line string
		switch m.Kind {
		case "event":
			line = `{"type":"` + m.Name + `","message":{"role":"assistant"},"assistantMessageEvent":{"type":"text_delta"},"method":"notify"}`
		case "update":
			line = `{"type":"message_update","assistantMessageEvent":{"type":"` + m.Name + `"}}`
		default:
			continue
		}
		g.Expect(noticesOf(line)).NotTo(ContainElement(event.NoticeUnknownMessage), line)
	}
	g.Expect(noticesOf(`{"type":"weather"}`)).To(ContainElement(event.NoticeUnknownMessage))
	g.Expect(noticesOf(`{"type":"message_update","assistantMessageEvent":{"type":"weather"}}`)).To(ContainElement(event.NoticeUnknownMessage))
	g.Expect(noticesOf(`no JSON`)).To(ContainElement(event.NoticeGarbage))
}

func noticesOf(lines ...string) (codes []event.NoticeCode) {
	n := pi.New().Transcribe("s1", func(e event.Event) {
		if d, ok := e.Data.(event.Notice); ok {
			codes = append(codes, d.Code)
		}
	})
	for _, l := range append([]string{`{"type":"agent_start"}`}, lines...) {
		n.Line(time.Time{}, []byte(l))
	}
	n.End()
	return codes
}

// No recorded line is unknown.
func TestCorpusIsKnown(t *testing.T) {
	cases, err := fixtures.Embedded().CasesWhere(func(id string) bool { return strings.HasPrefix(id, "pi/") })
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, c := range cases {
		n := pi.New().Transcribe("s1", func(e event.Event) {
			if d, ok := e.Data.(event.Notice); ok && (d.Code == event.NoticeUnknownMessage || d.Code == event.NoticeGarbage) {
				t.Errorf("%s: %s %s", c.ID, d.Text, d.Raw)
			}
		})
		for _, l := range c.Wire {
			if l.Dir == fixtures.Out {
				n.Line(time.Time{}, l.Bytes)
				read++
			}
		}
		n.End()
	}
	if read < 1000 {
		t.Errorf("%d lines were read", read)
	}
}

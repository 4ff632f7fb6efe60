package opencode_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/opencode"
	"github.com/turnspec/turnspec/fixtures"
)

// What the table has never becomes a notice of an unknown message.
func TestKnownMessagesAreKnown(t *testing.T) {
	g := NewWithT(t)
	for _, m := range opencode.New().Mapping() {
		g.Expect(m.Event == "").NotTo(Equal(m.Ignored == ""), "%s: want an event, or a reason why there is none", m.Name)
		line := eventLine("message.part.updated", `"part":{"id":"prt_1","type":"`+m.Name+`","callID":"c1","state":{"status":"running"}}`)
		if m.Kind == "event" {
			line = eventLine(m.Name, `"id":"per_1","status":{"type":"busy"},"part":{"type":"text"}`)
		}
		g.Expect(noticesOf(line)).NotTo(ContainElement(event.NoticeUnknownMessage), line)
	}
	for _, line := range []string{
		eventLine("weather.updated", `"outlook":"fair"`),
		eventLine("message.part.updated", `"part":{"id":"prt_1","type":"weather"}`),
		eventLine("session.status", `"status":{"type":"asleep"}`),
		`{"outlook":"fair"}`,
	} {
		g.Expect(noticesOf(line)).To(ContainElement(event.NoticeUnknownMessage), line)
	}
	g.Expect(noticesOf(`no JSON`)).To(ContainElement(event.NoticeGarbage))
}

// eventLine is an event of the session.
func eventLine(kind, properties string) string {
	return fmt.Sprintf(`{"id":1,"data":{"id":"evt_1","type":%q,"properties":{"sessionID":"ses_1",%s}}}`, kind, properties)
}

func noticesOf(lines ...string) (codes []event.NoticeCode) {
	n := opencode.New().Transcribe("s1", func(e event.Event) {
		if d, ok := e.Data.(event.Notice); ok {
			codes = append(codes, d.Code)
		}
	})
	for _, l := range append([]string{`{"id":2,"status":200,"body":{"id":"ses_1","directory":"/work"}}`}, lines...) {
		n.Line(time.Time{}, []byte(l))
	}
	n.End()
	return codes
}

// No recorded line is unknown.
func TestCorpusIsKnown(t *testing.T) {
	cases, err := fixtures.Embedded().CasesWhere(func(id string) bool { return strings.HasPrefix(id, "opencode/") })
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, c := range cases {
		n := opencode.New().Transcribe("s1", func(e event.Event) {
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

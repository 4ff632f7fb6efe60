package codex

import (
	"bytes"

	"github.com/turnspec/turnspec/adapters/internal/fastjson"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// The fast path reads deltas of text, reasoning and output with package
// fastjson into the same fields that the typed decoder fills. Tests on the
// corpus and a fuzz test check that both agree.

var deltaMark = []byte(`elta","params":{`)

// fastMethods are the methods that decodeFast reads.
var fastMethods = []string{
	"item/agentMessage/delta", "item/commandExecution/outputDelta", "item/reasoning/summaryTextDelta", "item/reasoning/textDelta",
}

// matchTemplate reads a delta that differs from the current message only in its
// text.
func (m *message) matchTemplate(b []byte) bool {
	txt, ok := m.template.Match(b)
	if ok {
		m.Params.Delta.s = txt
	}
	return ok
}

// decodeFast reads a delta into a message that was reset. If it returns false,
// the caller must reset the message again.
func (m *message) decodeFast(b []byte) bool {
	m.template.Clear()
	if len(b) > fastjson.MaxLine || !bytes.Contains(b, deltaMark) {
		return false
	}
	s := fastjson.New(b)
	for o := s.Object(); s.Next(&o); {
		switch string(o.Key) {
		case "method":
			s.MarkSeen(&o, 1)
			m.scanMethod(&s)
		case "params":
			s.MarkSeen(&o, 2)
			m.Params.scan(&s)
		case "emittedAtMs":
			s.MarkSeen(&o, 4)
			s.NumberHole() // no event uses it
		default:
			return false
		}
	}
	if !s.Done() || !m.Method.set || !m.Params.Delta.set {
		return false
	}
	m.template.Set(&s)
	return true
}

func (m *message) scanMethod(s *fastjson.Scanner) {
	m.Method.set = true
	raw := s.Plain()
	for _, p := range fastMethods {
		if string(raw) == p {
			m.Method.s = p
			return
		}
	}
	s.Bad = true
}

func (p *params) scan(s *fastjson.Scanner) {
	for o := s.Object(); s.Next(&o); {
		switch string(o.Key) {
		case "threadId":
			s.MarkSeen(&o, 1)
			p.ThreadID.scan(s)
		case "turnId":
			s.MarkSeen(&o, 2)
			p.TurnID.scan(s)
		case "itemId":
			s.MarkSeen(&o, 4)
			p.ItemID.scan(s)
		case "delta":
			s.MarkSeen(&o, 8)
			p.Delta.s, p.Delta.set = s.TextHole(), true
		case "contentIndex":
			s.MarkSeen(&o, 16)
			p.ContentIndex = lenient.Num(s.Number())
		case "summaryIndex":
			s.MarkSeen(&o, 32)
			p.SummaryIndex = lenient.Num(s.Number())
		default:
			s.Bad = true
		}
	}
}

func (t *text) scan(s *fastjson.Scanner) { t.s, t.set = s.TextOr(t.s), true }

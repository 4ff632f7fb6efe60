package codex

import (
	"bytes"

	"github.com/turnspec/turnspec/adapters/internal/fastjson"
)

// fast reads the pieces of texts, of reasoning and of output without the
// decoder, see package scan, into the same fields that the typed decoder fills.
// That both agree is tested on the corpus and fuzzed.

var deltaMark = []byte(`elta","params":{`)

// pieces are the methods that fast reads, as the strings that it sets.
var pieces = []string{
	"item/agentMessage/delta", "item/commandExecution/outputDelta", "item/reasoning/summaryTextDelta", "item/reasoning/textDelta",
}

// again reads a piece that is like the one in the message, with another text.
func (m *message) again(b []byte) bool {
	txt, ok := m.like.Match(b)
	if ok {
		m.Params.Delta.s = txt
	}
	return ok
}

// fast reads a piece into a message that was emptied. When it returns false the
// message must be emptied again.
func (m *message) fast(b []byte) bool {
	m.like.Clear()
	if len(b) > fastjson.MaxLine || !bytes.Contains(b, deltaMark) {
		return false
	}
	s := fastjson.New(b)
	for o := s.Object(); s.Next(&o); {
		switch string(o.Key) {
		case "method":
			s.MarkSeen(&o, 1)
			m.fastMethod(&s)
		case "params":
			s.MarkSeen(&o, 2)
			m.Params.fast(&s)
		case "emittedAtMs":
			s.MarkSeen(&o, 4)
			s.NumberHole() // no event needs it
		default:
			return false
		}
	}
	if !s.Done() || !m.Method.set || !m.Params.Delta.set {
		return false
	}
	m.like.Set(&s)
	return true
}

func (m *message) fastMethod(s *fastjson.Scanner) {
	m.Method.set = true
	raw := s.Plain()
	for _, p := range pieces {
		if string(raw) == p {
			m.Method.s = p
			return
		}
	}
	s.Bad = true
}

func (p *params) fast(s *fastjson.Scanner) {
	for o := s.Object(); s.Next(&o); {
		switch string(o.Key) {
		case "threadId":
			s.MarkSeen(&o, 1)
			p.ThreadID.fast(s)
		case "turnId":
			s.MarkSeen(&o, 2)
			p.TurnID.fast(s)
		case "itemId":
			s.MarkSeen(&o, 4)
			p.ItemID.fast(s)
		case "delta":
			s.MarkSeen(&o, 8)
			p.Delta.s, p.Delta.set = s.TextHole(), true
		case "contentIndex":
			s.MarkSeen(&o, 16)
			p.ContentIndex = num{s.Number(), true}
		case "summaryIndex":
			s.MarkSeen(&o, 32)
			p.SummaryIndex = num{s.Number(), true}
		default:
			s.Bad = true
		}
	}
}

func (t *text) fast(s *fastjson.Scanner) { t.s, t.set = s.TextOr(t.s), true }

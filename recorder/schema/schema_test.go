package schema_test

import (
	"path"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/schema"
)

const small = `notification turn/completed TurnCompleted
message stdout Line
Line = Line.system | Result
Line.system {subtype: "init" | "status", type: "system"}
Result {parts?: (Part | null)[], type: "result", usage?: {number}}
Part = Part.text | Part.tool
Part.text {text: string, type: "text"}
Part.tool {id: string, state?: State, type: "tool"}
State = "done" | "open"
TurnCompleted {turn: TurnCompleted.turn}
TurnCompleted.turn {id: string, status?: State}
`

func parsed(t *testing.T) *schema.Schema {
	t.Helper()
	s, err := schema.Parse("small", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWalk(t *testing.T) {
	g := NewWithT(t)
	s, seen := parsed(t), schema.NewSeen()
	s.Walk(seen, schema.Message, "stdout", []byte(`{"type":"result","parts":[{"type":"tool","id":"x","state":"open","more":1},null],"usage":{"a":1}}`))
	s.Walk(seen, schema.Notification, "turn/completed", []byte(`{"turn":{"id":"1","status":"odd"}}`))
	s.Walk(seen, schema.Notification, "turn/unheard", []byte(`{}`))
	g.Expect(seen.Fields).To(HaveKey("Part.tool.state"))
	g.Expect(seen.Fields).NotTo(HaveKey("Part.text.text"), "the tag selects the alternative")
	g.Expect(seen.Values).To(Equal(map[string]int{`Result.type="result"`: 1, `Part.tool.type="tool"`: 1, `State="open"`: 1}), "a value that is not listed is not counted")
	g.Expect(seen.Unknown).To(Equal(map[string]int{"Part.tool.more": 1}))
	g.Expect(seen.Messages).To(HaveKey("notification turn/unheard"))
}

func TestUniverse(t *testing.T) {
	g := NewWithT(t)
	s := parsed(t)
	u := s.Universe(nil)
	g.Expect(u.Fields).To(ContainElements("Part.text.text", "TurnCompleted.turn.status", "Result.usage"))
	g.Expect(u.Values).To(ConsistOf(`Line.system.subtype="init"`, `Line.system.subtype="status"`, `Line.system.type="system"`,
		`Result.type="result"`, `Part.text.type="text"`, `Part.tool.type="tool"`, `State="done"`, `State="open"`))
	g.Expect(s.Lines(&wire.Tags{}).Names).To(Equal([]string{"message result", "message system/init", "message system/status"}))
}

func TestParseRejects(t *testing.T) {
	for name, text := range map[string]string{
		"no declaration": "Line",
		"a field alone":  "Line {type}",
	} {
		if _, err := schema.Parse("x", []byte(text)); err == nil {
			t.Errorf("%s: %q is accepted", name, text)
		}
	}
}

// The stored schemas are what Format writes.
func TestStoredSchemas(t *testing.T) {
	g := NewWithT(t)
	ids, err := fixtures.Embedded().CaseIDs()
	g.Expect(err).NotTo(HaveOccurred())
	done := map[string]bool{}
	for _, id := range ids {
		rt, version, _ := fixtures.SplitCaseID(id)
		if done[rt+version] {
			continue
		}
		done[rt+version] = true
		b, err := fixtures.Embedded().Schema(rt, version)
		if err != nil {
			continue // a runtime whose vendor publishes no schema
		}
		s, err := schema.Parse(path.Join(rt, version), b)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(s.Format())).To(Equal(string(b)), rt+" "+version)
	}
}

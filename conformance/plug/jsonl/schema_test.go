package jsonl_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
)

// schemaOf compiles a part of the protocol's schema.
func schemaOf(t *testing.T, part string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(jsonl.Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json#/$defs/" + part)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func valid(s *jsonschema.Schema, line string) error {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// TestLinesFitTheSchema validates every line of runs that use most commands.
func TestLinesFitTheSchema(t *testing.T) {
	g := gomega.NewWithT(t)
	in, out := schemaOf(t, "command"), schemaOf(t, "message")
	var mu sync.Mutex
	did := map[string]bool{}
	for _, id := range []string{
		plain, "claude/newest/permission/deny-then-stop", "claude/newest/session/resume-in-a-new-process", "claude/newest/question/one",
		"claude/newest/queue/one-of-two-withdrawn", "claude/newest/mode/changed-mid-turn", "claude/newest/turn/empty-message", "claude/newest/compaction/by-hand",
		"claude/newest/client/stopped-while-a-tool-runs",
	} {
		s := of(t, "bridge", "claude")
		s.Watch = func(isInput bool, line string) {
			mu.Lock()
			defer mu.Unlock()
			schema := out
			if isInput {
				schema = in
				_, do, _ := strings.Cut(line, `"do":"`)
				do, _, _ = strings.Cut(do, `"`)
				did[do] = true
			}
			if err := valid(schema, line); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			if eventType(line) != "" {
				if err := validEvent(t, line); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
		}
		g.Expect(play(t, s, id).Hang).To(gomega.BeEmpty(), id)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, do := range []string{"open", "send", "answer", "stop", "set_mode", "withdraw", "compact", "close", "result"} {
		g.Expect(did).To(gomega.HaveKey(do))
	}
}

func TestSchemaRejectsOtherLines(t *testing.T) {
	for part, lines := range map[string][]string{
		"message": {`{}`, `{"reply":{}}`, `{"reply":{"id":0}}`, `{"hello":{"protocol":2,"can":[]}}`, `{"hello":{"protocol":1,"can":["fly"]}}`, `{"event":{"type":"done"}}`},
		"command": {`{"id":1,"do":"dance"}`, `{"id":1,"do":"send","text":"x"}`, `{"do":"stop"}`},
	} {
		s := schemaOf(t, part)
		for _, l := range lines {
			if valid(s, l) == nil {
				t.Errorf("%s: %s is taken", part, l)
			}
		}
	}
}

// TestPageShowsValidLines validates the lines in PROTOCOL.md.
func TestPageShowsValidLines(t *testing.T) {
	b, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	_, talk, _ := strings.Cut(string(b), "program                ")
	talk, _, _ = strings.Cut(talk, "```")
	in, out := schemaOf(t, "command"), schemaOf(t, "message")
	shown := map[string]bool{}
	n := 0
	for _, l := range strings.Split(talk, "\n")[1:] {
		schema := out
		if strings.HasPrefix(l, " ") {
			schema = in
		}
		if l = strings.TrimSpace(l); l == "" {
			continue
		}
		n++
		if err := valid(schema, l); err != nil {
			t.Errorf("%s: %v", l, err)
		}
		if typ := eventType(l); typ != "" {
			shown[typ] = true
			if err := validEvent(t, l); err != nil {
				t.Errorf("%s: %v", l, err)
			}
		}
	}
	if n < 10 {
		t.Errorf("the page shows %d lines only", n)
	}
	// The page shows what an adapter emits that passes.
	var mu sync.Mutex
	s := of(t, "bridge", "claude")
	s.Watch = func(_ bool, line string) {
		mu.Lock()
		defer mu.Unlock()
		switch typ := eventType(line); typ {
		case "", "thinking", "usage", "result", "model_changed": // of use to some users only; no check needs them here
		default:
			if !shown[typ] {
				t.Errorf("PROTOCOL.md shows no %s", typ)
				shown[typ] = true
			}
		}
	}
	if hang := play(t, s, "claude/newest/permission/allow").Hang; hang != "" {
		t.Error(hang)
	}
}

// eventType returns the type of the event in a line; "" if it is another line.
func eventType(line string) string {
	_, typ, _ := strings.Cut(line, `{"event":{"type":"`)
	typ, _, _ = strings.Cut(typ, `"`)
	return typ
}

// eventSchema returns the compiled schema of events.
var eventSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(event.Schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("event.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("event.json")
})

// validEvent validates the event in a line, with what may be left out of a line.
func validEvent(t *testing.T, line string) error {
	t.Helper()
	s, err := eventSchema()
	if err != nil {
		return err
	}
	var m struct {
		Event map[string]any `json:"event"`
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		return err
	}
	for member, value := range map[string]any{"ts": "2030-01-01T00:00:00Z", "seq": 1, "session_id": "s1"} {
		if m.Event[member] == nil {
			m.Event[member] = value
		}
	}
	b, err := json.Marshal(m.Event)
	if err != nil {
		return err
	}
	return valid(s, string(b))
}

// TestPageListsAllOptions checks that the page names each command and each of their
// members.
func TestPageListsAllOptions(t *testing.T) {
	b, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	_, commands, _ := strings.Cut(string(b), "## The commands")
	for _, c := range parseSchema(t, jsonl.Schema).Defs["command"].OneOf {
		for _, name := range append([]string{c.Title}, propertyNames(c)...) {
			if name != "id" && name != "do" && !regexp.MustCompile(`\b`+name+`\b`).MatchString(commands) {
				t.Errorf("PROTOCOL.md does not name %s of %s", name, c.Title)
			}
		}
	}
}

func propertyNames(n *node) (out []string) {
	for _, p := range n.Properties {
		out = append(out, p.Name)
	}
	return out
}

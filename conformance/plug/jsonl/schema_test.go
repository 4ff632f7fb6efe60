package jsonl_test

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

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
		plain, "claude/2.1.329/permission/deny-then-stop", "claude/2.1.329/session/resume-in-a-new-process", "claude/2.1.329/question/one",
		"claude/2.1.329/queue/one-of-two-withdrawn", "claude/2.1.329/mode/changed-mid-turn", "claude/2.1.329/compaction/by-hand",
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
		}
		g.Expect(play(t, s, id).Hang).To(gomega.BeEmpty(), id)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, do := range []string{"open", "send", "answer", "stop", "set_mode", "withdraw", "compact", "close"} {
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
	}
	if n < 10 {
		t.Errorf("the page shows %d lines only", n)
	}
}

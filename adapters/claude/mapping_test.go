package claude_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/schema"
)

// Each entry has either an event or a reason, and no name occurs twice.
func TestMappingEntriesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range claude.Mapping() {
		id := m.Kind + " " + m.Name
		switch {
		case m.Kind == "" || m.Name == "":
			t.Errorf("%+v has no kind or no name", m)
		case m.Event == "" && m.Ignored == "":
			t.Errorf("%s is ignored without a reason", id)
		case m.Event != "" && m.Ignored != "":
			t.Errorf("%s is mapped and ignored", id)
		case seen[id]:
			t.Errorf("%s occurs twice", id)
		}
		seen[id] = true
	}
}

const resultRows = "SDKResultError | SDKResultSuccess"

// declared lists the types of the stored schemas (turnspec schema) whose
// alternatives have names, with the kind in the table and the field that holds
// the name.
var declared = []struct{ kind, typ, field string }{
	{"message", "StdoutMessage", "type"},
	{"system", "SDKMessage", "subtype"},
	{"result", resultRows, "subtype"},
	{"control", "SDKControlRequestInner", "subtype"},
	{"stream", "BetaRawMessageStreamEvent", "type"},
	{"delta", "BetaRawContentBlockDelta", "type"},
	{"block", "BetaContentBlock", "type"},
	{"param", "ContentBlockParam", "type"},
}

// Every name that a recorded version declares is in the table.
func TestMappingCoversEverySchema(t *testing.T) {
	corpus := fixtures.Embedded()
	versions, err := corpus.Versions("claude")
	if err != nil || len(versions) < 2 {
		t.Fatal(versions, err)
	}
	table := map[string]bool{}
	for _, m := range claude.Mapping() {
		table[m.Kind+" "+m.Name] = true
	}
	for _, version := range versions {
		text, err := corpus.Schema("claude", version)
		if err != nil {
			t.Fatal(err)
		}
		s, err := schema.Parse("schema.txt", text)
		if err != nil {
			t.Fatal(err)
		}
		ended := s.Tags(resultRows, "subtype")
		for _, d := range declared {
			names := s.Tags(d.typ, d.field)
			if d.kind == "system" { // results have their own kind
				names = slices.DeleteFunc(names, func(n string) bool { return slices.Contains(ended, n) })
			}
			if len(names) < 2 {
				t.Errorf("%s: %s.%s has %d names: the schema has changed", version, d.typ, d.field, len(names))
			}
			for _, n := range names {
				if !table[d.kind+" "+n] {
					t.Errorf("%s declares the %s %s, which the table lacks", version, d.kind, n)
				}
			}
		}
	}
}

// doc.go agrees with the table.
func TestMappingAgreesWithDoc(t *testing.T) {
	b, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for l := range strings.Lines(string(b)) {
		if strings.HasPrefix(l, "//\t") {
			rows = append(rows, l)
		}
	}
	says := func(m adapters.Mapped) bool {
		name := regexp.MustCompile(`\b` + m.Name + `\b`)
		ignores := regexp.MustCompile(`ignored|nothing|only activity`)
		return slices.ContainsFunc(rows, func(row string) bool {
			return name.MatchString(row) && (m.Ignored == "" || ignores.MatchString(row))
		})
	}
	for _, m := range claude.Mapping() {
		if m.Kind != "message" && m.Kind != "system" && m.Kind != "delta" && m.Kind != "block" {
			continue // doc.go lists these in groups
		}
		if !says(m) {
			t.Errorf("doc.go has no row for %s %s that agrees with %+v", m.Kind, m.Name, m)
		}
	}
}

// A name in the table never becomes a notice of an unknown message, and an
// ignored one becomes no event.
func TestMappingAgreesWithTheTranslator(t *testing.T) {
	const session = `"session_id":"00000000-0000-4000-8000-5e5510000001"`
	forms := map[string]string{
		"message": `{"type":%q,` + session + `,"uuid":"u9"}`,
		"system":  `{"type":"system","subtype":%q,` + session + `,"uuid":"u9","content":"x"}`,
		"stream":  `{"type":"stream_event","event":{"type":%q,"index":0},` + session + `,"uuid":"u9"}`,
		"delta":   `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":%q}},` + session + `,"uuid":"u9"}`,
		"block":   `{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":%q}]},` + session + `,"uuid":"u9"}`,
		"param":   `{"type":"user","message":{"role":"user","content":[{"type":%q}]},` + session + `,"uuid":"u9"}`,
	}
	begin := []string{
		`{"type":"system","subtype":"init",` + session + `,"model":"m","uuid":"u1"}`,
		`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","content":[]}},` + session + `,"uuid":"u2"}`,
	}
	run := func(more ...string) []event.Event {
		var lines [][]byte
		for _, l := range append(slices.Clone(begin), more...) {
			lines = append(lines, []byte(l))
		}
		return normalize(lines)
	}
	plain := len(run())
	for _, m := range claude.Mapping() {
		form, ok := forms[m.Kind]
		if !ok || m.Name == "content_block_delta" || m.Kind == "message" && m.Event != "" {
			continue // used by the transcript itself, or tested on the corpus because its form is its own
		}
		got := run(fmt.Sprintf(form, m.Name))
		if n := notices(got, event.NoticeUnknownMessage); n > 0 {
			t.Errorf("%s %s is in the table and becomes a notice of an unknown message", m.Kind, m.Name)
		}
		if m.Ignored != "" && len(got) != plain {
			t.Errorf("%s %s is ignored and becomes %d events", m.Kind, m.Name, len(got)-plain)
		}
	}
}

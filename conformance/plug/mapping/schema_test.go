package mapping_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
)

var update = flag.Bool("update", false, "rewrite the list of events in schema.json")

// eventList finds the list of events in schema.json.
var eventList = regexp.MustCompile(`"event": \{"enum": \[[^\]]*\]\}`)

// TestSchemaListsEvents checks that schema.json lists the events that a rule may emit.
func TestSchemaListsEvents(t *testing.T) {
	old, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range event.Types() {
		_, err := mapping.Parse("x.json", []byte(`{"name":"n","rules":[{"when":{"type":"a"},"emit":"`+string(name)+`"},{"when":{"type":"end"},"emit":"done"}]}`))
		if err == nil {
			names = append(names, `"`+string(name)+`"`)
		}
	}
	want := eventList.ReplaceAllLiteral(old, []byte(`"event": {"enum": [`+strings.Join(names, ", ")+`]}`))
	if *update {
		if err := os.WriteFile("schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(old, want) {
		t.Error("schema.json is stale: run go test ./conformance/plug/mapping -run TestSchemaListsEvents -update")
	}
}

// TestSchema checks that schema.json and Parse accept and refuse the same files.
func TestSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	accepts := func(text string) bool {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		return err == nil && schema.Validate(doc) == nil
	}
	files := map[string]bool{example: true}
	builtin, err := filepath.Glob("builtin/*.json")
	if err != nil || len(builtin) != len(mapping.Names()) {
		t.Fatalf("%v are not the built-in vocabularies %v: %v", builtin, mapping.Names(), err)
	}
	for _, file := range builtin {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files[string(b)] = true
	}
	for _, change := range []struct{ from, to string }{
		{`"name": "my-stream",`, ""},
		{`"name": "my-stream",`, `"name": "my-stream", "names": 1,`},
		{`"emit": "done"`, `"emit": "message"`},
		{`{"when": {"type": "end", "ok": true}, "emit": "done"},`, ""},
		{`"key": "id", "keep"`, `"keep"`},
		{`"key": "id", "append"`, `"append"`},
		{`"when": {"type": "chunk"}`, `"when": {}`},
		{`"emit": "delta", "data"`, `"data"`},
		{`"body.text"`, `""`},
	} {
		if !strings.Contains(example, change.from) {
			t.Fatalf("the example does not contain %s", change.from)
		}
		files[strings.Replace(example, change.from, change.to, 1)] = false
	}
	files[strings.Replace(example, "{", `{"$schema": "schema.json",`, 1)] = true
	files[`{"name":"n","extends":"agui"}`] = true
	files[`{"name":"n","extends":"agui","post":{"path":"/a","body":{}},"stop":{"path":"/b","body":{}}}`] = true
	const end = `"rules":[{"when":{"type":"end"},"emit":"done"}]`
	files[`{"name":"n","stdin":"{message}",`+end+`}`] = true
	files[`{"name":"n","stdin":{"text":"{message}"},`+end+`}`] = true
	files[`{"name":"n","args":["-p","{message}"]}`] = true
	files[`{"name":"n","notes":["a"],"rules":[{"note":"b","each":"all","has":["*.a"],"emit":"done"}]}`] = true
	files[`{"name":"n","rules":[{"each":"all","emit":"done"}]}`] = false
	for rule, right := range map[string]bool{
		`{"when":{"type":"x-*"},"emit":"*","of":["usage","*"],"data":{"*":"data","subagent_id":"agent"}}`: true,
		`{"when":{"type":"x"},"emit":"usage","data":{"*":"data"}}`:                                        true,
		`{"when":{"type":"x-*"},"emit":"*"}`:                                                              false,
		`{"when":{"type":"x-*"},"emit":"*","of":[]}`:                                                      false,
		`{"when":{"type":"x-*"},"emit":"*","of":["x"]}`:                                                   false,
		`{"when":{"type":"x"},"emit":"*","of":["*"]}`:                                                     false,
		`{"has":["x"],"emit":"*","of":["*"]}`:                                                             false,
		`{"when":{"type":"x-*"},"emit":"usage","of":["*"]}`:                                               false,
		`{"when":{"type":"x-*"},"of":["*"]}`:                                                              false,
		`{"when":{"type":"x"},"emit":"usage","data":{"*":"=1"}}`:                                          false,
		`{"when":{"type":"x"},"key":"k","emit":"usage","data":{"*":"@a"}}`:                                false,
	} {
		files[`{"name":"n","rules":[`+rule+`,{"when":{"type":"end"},"emit":"done"}]}`] = right
	}
	files[`{"name":"n","stdin":"message",`+end+`}`] = false
	files[`{"name":"n","args":["message"]}`] = false
	files[`{"name":"n","args":[]}`] = false
	files[`{"name":"n","stdin":"{message}","args":["{message}"],`+end+`}`] = false
	files[`{"name":"n","extends":"agui","post":{"path":"/a","body":{}},"args":["{message}"]}`] = false
	files[`{"name":"n"}`] = false
	files[`{"name":"n","extends":"x"}`] = false
	files[`{"name":"n","extends":"agui","post":{"path":"a","body":{}}}`] = false
	files[`{"name":"n","extends":"agui","post":{"path":"/a","body":[]}}`] = false
	files[`{"name":"n","extends":"agui","post":{"path":"/a"}}`] = false
	files[`{"name":"n","extends":"agui","stop":{"path":"/a","body":{}}}`] = false
	for text, right := range files {
		if _, err := mapping.Parse("x.json", []byte(text)); (err == nil) != right {
			t.Errorf("Parse: %v, want it right: %v\n%s", err, right, text)
		}
		if accepts(text) != right {
			t.Errorf("the schema accepts it: %v, want %v\n%s", !right, right, text)
		}
	}
}

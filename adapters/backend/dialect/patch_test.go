package dialect_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
)

// TestPatch applies the examples of RFC 6902, appendix A.
func TestPatch(t *testing.T) {
	for _, c := range []struct{ name, value, patch, want string }{
		{"A.1 add a member", `{"foo":"bar"}`, `[{"op":"add","path":"/baz","value":"qux"}]`, `{"baz":"qux","foo":"bar"}`},
		{"A.2 add an element", `{"foo":["bar","baz"]}`, `[{"op":"add","path":"/foo/1","value":"qux"}]`, `{"foo":["bar","qux","baz"]}`},
		{"A.3 remove a member", `{"baz":"qux","foo":"bar"}`, `[{"op":"remove","path":"/baz"}]`, `{"foo":"bar"}`},
		{"A.4 remove an element", `{"foo":["bar","qux","baz"]}`, `[{"op":"remove","path":"/foo/1"}]`, `{"foo":["bar","baz"]}`},
		{"A.5 replace", `{"baz":"qux","foo":"bar"}`, `[{"op":"replace","path":"/baz","value":"boo"}]`, `{"baz":"boo","foo":"bar"}`},
		{"A.6 move a value", `{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}`, `[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]`, `{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}`},
		{"A.7 move an element", `{"foo":["all","grass","cows","eat"]}`, `[{"op":"move","from":"/foo/1","path":"/foo/3"}]`, `{"foo":["all","cows","eat","grass"]}`},
		{"A.8 test", `{"baz":"qux","foo":["a",2,"c"]}`, `[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]`, `{"baz":"qux","foo":["a",2,"c"]}`},
		{"A.9 test fails", `{"baz":"qux"}`, `[{"op":"test","path":"/baz","value":"bar"}]`, ``},
		{"A.10 add a nested object", `{"foo":"bar"}`, `[{"op":"add","path":"/child","value":{"grandchild":{}}}]`, `{"child":{"grandchild":{}},"foo":"bar"}`},
		{"A.12 add to what is not there", `{"foo":"bar"}`, `[{"op":"add","path":"/baz/bat","value":"qux"}]`, ``},
		{"A.14 escapes", `{"/":9,"~1":10}`, `[{"op":"test","path":"/~01","value":10}]`, `{"/":9,"~1":10}`},
		{"A.16 append", `{"foo":["bar"]}`, `[{"op":"add","path":"/foo/-","value":["abc","def"]}]`, `{"foo":["bar",["abc","def"]]}`},
		{"copy", `{"a":1}`, `[{"op":"copy","from":"/a","path":"/b"}]`, `{"a":1,"b":1}`},
		{"the whole", `{"a":1}`, `[{"op":"replace","path":"","value":2}]`, `2`},
		{"remove what is not there", `{"a":1}`, `[{"op":"remove","path":"/b"}]`, ``},
		{"no value", `{}`, `[{"op":"add","path":"/b"}]`, ``},
	} {
		var value any
		if err := json.Unmarshal([]byte(c.value), &value); err != nil {
			t.Fatal(err)
		}
		got, err := dialect.Patch(value, []byte(c.patch))
		switch {
		case (err != nil) != (c.want == ""):
			t.Errorf("%s: error %v", c.name, err)
		case err == nil && string(dialect.Marshal(got)) != c.want:
			t.Errorf("%s: got %s, want %s", c.name, dialect.Marshal(got), c.want)
		}
		if before := string(dialect.Marshal(value)); before != c.value {
			t.Errorf("%s: the old value became %s", c.name, before)
		}
	}
}

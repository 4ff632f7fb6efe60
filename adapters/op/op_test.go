package op_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters/op"
)

// TestRows checks that each row is complete, and that Of sets only the members that the row
// has.
func TestRows(t *testing.T) {
	names, verbs := map[string]bool{}, map[string]bool{}
	for _, o := range op.All() {
		if o.Name == "" || o.Step == "" || o.Does == "" || o.Of == nil {
			t.Errorf("%q: the row is not complete", o.Name)
			continue
		}
		if names[o.Name] || verbs[o.Verb()] {
			t.Errorf("%s: another row has this name or the verb %q", o.Name, o.Verb())
		}
		names[o.Name], verbs[o.Verb()] = true, true
		if op.Named(o.Name) != o || op.OfStep(o.Step, o.What) != o {
			t.Errorf("%s: is not found by its name or its step", o.Name)
		}
		what := o.What
		if what == "" && len(o.Words) > 0 {
			what = o.Words[0]
		}
		b, err := json.Marshal(o.CallOf(what, "id", "text"))
		if err != nil {
			t.Fatal(err)
		}
		var set map[string]any
		if err := json.Unmarshal(b, &set); err != nil {
			t.Fatal(err)
		}
		if set["do"] != o.Name {
			t.Errorf("%s: the call has do %v", o.Name, set["do"])
		}
		delete(set, "do")
		want := slices.Sorted(slices.Values(o.Members))
		var got []string
		for name := range set {
			got = append(got, name)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: the call has the members %v, the row %v", o.Name, got, want)
		}
	}
}

// TestMembers checks that each member of a row is one of Call, and that each member of Call has
// a description and belongs to a row.
func TestMembers(t *testing.T) {
	used := map[string]bool{"do": true}
	for _, o := range op.All() {
		for _, m := range o.Members {
			used[m] = true
		}
	}
	call := reflect.TypeFor[op.Call]()
	for field := range call.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !used[name] {
			t.Errorf("no row has the member %s", name)
		}
		if name != "do" && field.Tag.Get("doc") == "" {
			t.Errorf("the member %s has no description", name)
		}
		delete(used, name)
	}
	for name := range used {
		t.Errorf("Call has no member %s", name)
	}
}

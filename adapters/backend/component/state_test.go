package component_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/component"
	"github.com/turnspec/turnspec/adapters/event"
)

func merge(s string) component.Change { return component.Change{Merge: event.Raw(s)} }
func patch(s string) component.Change { return component.Change{Patch: event.Raw(s)} }

func doc(s string) component.State { return component.State{Version: 7, Doc: event.Raw(s)} }

func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name, doc string
		change    component.Change
		want, err string
	}{
		// The examples of RFC 7396 whose document and patch are objects.
		{"merge replaces", `{"a":"b"}`, merge(`{"a":"c"}`), `{"a":"c"}`, ""},
		{"merge adds", `{"a":"b"}`, merge(`{"b":"c"}`), `{"a":"b","b":"c"}`, ""},
		{"merge removes", `{"a":"b"}`, merge(`{"a":null}`), `{}`, ""},
		{"merge removes one", `{"a":"b","b":"c"}`, merge(`{"a":null}`), `{"b":"c"}`, ""},
		{"merge replaces a list", `{"a":["b"]}`, merge(`{"a":"c"}`), `{"a":"c"}`, ""},
		{"merge by a list", `{"a":"c"}`, merge(`{"a":["b"]}`), `{"a":["b"]}`, ""},
		{"merge deep", `{"a":{"b":"c"}}`, merge(`{"a":{"b":"d","c":null}}`), `{"a":{"b":"d"}}`, ""},
		{"merge lists of objects", `{"a":[{"b":"c"}]}`, merge(`{"a":[1]}`), `{"a":[1]}`, ""},
		{"merge leaves null that was there", `{"e":null}`, merge(`{"a":1}`), `{"a":1,"e":null}`, ""},
		{"merge into nothing", `{}`, merge(`{"a":{"bb":{"ccc":null}}}`), `{"a":{"bb":{}}}`, ""},
		{"merge of an object over a list", `{"a":[1,2]}`, merge(`{"a":{"b":1,"c":null}}`), `{"a":{"b":1}}`, ""},
		{"merge leaves lists as they are", `{}`, merge(`{"a":[{"b":null}]}`), `{"a":[{"b":null}]}`, ""},
		{"merge keeps big numbers", `{}`, merge(`{"a":12345678901234567890}`), `{"a":12345678901234567890}`, ""},
		{"patch adds", `{"a":[1]}`, patch(`[{"op":"add","path":"/a/-","value":2}]`), `{"a":[1,2]}`, ""},
		{"patch adds null", `{}`, patch(`[{"op":"add","path":"/a","value":null}]`), `{"a":null}`, ""},
		{"patch tests, moves, copies", `{"a":1}`, patch(`[{"op":"test","path":"/a","value":1},{"op":"move","from":"/a","path":"/b"},{"op":"copy","from":"/b","path":"/c"}]`), `{"b":1,"c":1}`, ""},
		{"patch escapes", `{"a/b":1,"m~n":2}`, patch(`[{"op":"remove","path":"/a~1b"},{"op":"replace","path":"/m~0n","value":3}]`), `{"m~n":3}`, ""},
		{"patch of all", `{"a":1}`, patch(`[{"op":"replace","path":"","value":{"b":2}}]`), `{"b":2}`, ""},
		{"nothing changes", `{"a":1}`, merge(`{"a":1}`), `{"a":1}`, "same"},
		{"nothing but the form", `{"a":1,"b":2}`, patch(`[{"op":"remove","path":"/a"},{"op":"add","path":"/a","value": 1}]`), `{"a":1,"b":2}`, "same"},
		// All or nothing.
		{"a test fails", `{"a":1}`, patch(`[{"op":"add","path":"/b","value":1},{"op":"test","path":"/a","value":2}]`), "", "patch: "},
		{"no such path", `{}`, patch(`[{"op":"remove","path":"/a"}]`), "", "patch: "},
		{"no such parent", `{}`, patch(`[{"op":"add","path":"/a/b","value":1}]`), "", "patch: "},
		{"index from behind", `{"a":[1]}`, patch(`[{"op":"remove","path":"/a/-1"}]`), "", "patch: "},
		{"index past the end", `{"a":[1]}`, patch(`[{"op":"add","path":"/a/5","value":1}]`), "", "patch: "},
		{"unknown op", `{}`, patch(`[{"op":"burn","path":"/a"}]`), "", "patch: "},
		{"patch that is none", `{}`, patch(`{"op":"add"}`), "", "patch: "},
		{"no JSON", `{}`, patch(`[`), "", "not valid JSON"},
		{"no object any more", `{}`, patch(`[{"op":"replace","path":"","value":[1]}]`), "", "must be an object"},
		{"merge of no object", `{}`, merge(`[1]`), "", "merge: it is not an object"},
		{"merge of no JSON", `{}`, merge(`{"a":`), "", "merge: "},
		{"the same name twice", `{}`, merge(`{"a":1,"a":2}`), "", "merge: "},
		{"neither", `{}`, component.Change{}, "", "either merge or patch"},
		{"both", `{}`, component.Change{Merge: event.Raw(`{}`), Patch: event.Raw(`[]`)}, "", "either merge or patch"},
		{"too long", `{}`, merge(`{"a":"` + strings.Repeat("x", component.MaxState) + `"}`), "", "are allowed"},
		{"copies without end", `{"a":["` + strings.Repeat("x", 1<<18) + `"]}`, patch("[" + strings.Repeat(`{"op":"copy","from":"/a","path":"/a/-"},`, 30) + `{"op":"test","path":"/b","value":1}]`), "", "patch: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			before := doc(c.doc)
			got, err := before.Apply(c.change)
			g.Expect(string(before.Doc)).To(Equal(c.doc), "the document that was given stays")
			switch c.err {
			case "":
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(string(got.Doc)).To(Equal(c.want))
				g.Expect(got.Version).To(BeEquivalentTo(8))
			case "same":
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(got).To(Equal(before))
			default:
				g.Expect(err).To(MatchError(ContainSubstring(c.err)))
				g.Expect(got).To(Equal(before))
			}
		})
	}
}

func TestConflict(t *testing.T) {
	g := NewWithT(t)
	var zero component.State
	v := int64(0)
	c := merge(`{"a":1}`)
	c.Version = &v
	one, err := zero.Apply(c)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(one).To(Equal(component.State{Version: 1, Doc: event.Raw(`{"a":1}`)}))
	got, err := one.Apply(c)
	var conflict *component.ConflictError
	g.Expect(errors.As(err, &conflict)).To(BeTrue())
	g.Expect(conflict.Now).To(Equal(one))
	g.Expect(got).To(Equal(one))
	g.Expect(err).To(MatchError(`the change was made from version 0, and the state is at version 1: {"a":1}`))
}

// randomValue returns JSON of any kind, small enough that names collide.
func randomValue(r *rand.Rand, deep int) any {
	switch n := r.IntN(8); {
	case deep > 0 && n < 4:
		m := map[string]any{}
		for range r.IntN(4) {
			m[string(rune('a'+r.IntN(4)))] = randomValue(r, deep-1)
		}
		return m
	case deep > 0 && n == 4:
		return []any{randomValue(r, deep-1), randomValue(r, deep-1)}
	case n == 5:
		return nil
	}
	return float64(r.IntN(3))
}

func randomObject(r *rand.Rand) event.Raw {
	for {
		if m, ok := randomValue(r, 3).(map[string]any); ok {
			b, err := json.Marshal(m, json.Deterministic(true))
			if err != nil {
				panic(err)
			}
			return b
		}
	}
}

// mergeOf is the pseudocode of RFC 7396, over Go values.
func mergeOf(target, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out := map[string]any{}
	if t, ok := target.(map[string]any); ok {
		maps.Copy(out, t)
	}
	for k, v := range p {
		if v == nil {
			delete(out, k)
		} else {
			out[k] = mergeOf(out[k], v)
		}
	}
	return out
}

// TestMergeMatchesRFC: merging random patches gives the same as the pseudocode of the
// RFC, and merging the same patch again changes nothing.
func TestMergeMatchesRFC(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 7))
		d, p := randomObject(r), randomObject(r)
		g := NewWithT(t)
		got, err := doc(string(d)).Apply(component.Change{Merge: p})
		g.Expect(err).NotTo(HaveOccurred())
		var before, by any
		g.Expect(json.Unmarshal(d, &before)).To(Succeed())
		g.Expect(json.Unmarshal(p, &by)).To(Succeed())
		want, err := json.Marshal(mergeOf(before, by), json.Deterministic(true))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(got.Doc)).To(Equal(string(want)), fmt.Sprintf("seed %d: %s merged into %s", seed, p, d))
		again, err := got.Apply(component.Change{Merge: p})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(again).To(Equal(got))
	}
}

func FuzzChange(f *testing.F) {
	f.Add([]byte(`{"a":1}`), []byte(`[{"op":"add","path":"/a","value":1}]`))
	f.Add([]byte(`{"a":{"b":null}}`), []byte(`[{"op":"move","from":"/a","path":"/a/b"}]`))
	f.Fuzz(func(t *testing.T, m, p []byte) {
		s := doc(`{"a":{"b":[1,2]},"c":null}`)
		for _, c := range []component.Change{{Merge: m}, {Patch: p}} {
			got, err := s.Apply(c)
			if err != nil {
				if got.Version != s.Version || string(got.Doc) != string(s.Doc) {
					t.Fatalf("%v, and yet the state changed to %s", err, got.Doc)
				}
				continue
			}
			if !got.Doc.IsValid() || got.Doc.Kind() != '{' {
				t.Fatalf("the state became %s", got.Doc)
			}
		}
	})
}

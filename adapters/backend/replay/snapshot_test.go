package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/turnspec/turnspec/adapters/event"
)

// rapidSource draws from rapid, which shrinks failures.
type rapidSource struct{ t *rapid.T }

func (d rapidSource) IntN(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "") }

// compareWindow compares the view of a restored reducer with that of one that has
// all events. They must be equal from the window's first message on; the earlier
// messages of cut were open, and must be equal too.
func compareWindow(full, cut *View, first int) error {
	whole := map[int]*Message{}
	for m := range full.Messages() {
		whole[m.Number] = m
	}
	seen := map[int]bool{}
	last := 0
	for m := range cut.Messages() {
		seen[m.Number] = true
		if m.Number <= last {
			return fmt.Errorf("message %d is after %d", m.Number, last)
		}
		last = m.Number
		if want := whole[m.Number]; want == nil || !reflect.DeepEqual(m, want) {
			return fmt.Errorf("message %d is\n%s\nwant\n%s", m.Number, prettyJSON(m), prettyJSON(want))
		}
	}
	for n := range whole {
		if n >= first && !seen[n] {
			return fmt.Errorf("message %d is missing", n)
		}
	}
	a, b := full.Head(), cut.Head()
	if !reflect.DeepEqual(a, b) {
		return fmt.Errorf("the head is\n%s\nwant\n%s", prettyJSON(b), prettyJSON(a))
	}
	return nil
}

func prettyJSON(v any) string {
	b, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent(" "), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// checkRestore takes a snapshot of n messages after p events, changes it with damage,
// and compares the restored reducer with one that has all events.
func checkRestore(events []event.Event, p, n int, damage func([]byte) []byte, options ...Option) error {
	full := New(options...)
	for _, e := range events[:p] {
		full.Add(e)
	}
	data, err := full.Snapshot(n)
	if err != nil {
		return err
	}
	first := full.lastNumber + 1
	if last := full.View().Last(n); len(last) > 0 {
		first = last[0].Number
	}
	if damage != nil {
		data = damage(data)
	}
	cut, err := Restore(data, options...)
	if err != nil {
		return err
	}
	if cut.First() != first {
		return fmt.Errorf("cut after %d to %d: the first message is %d, want %d", p, n, cut.First(), first)
	}
	for i, e := range events[p:] {
		if err := compareWindow(full.View(), cut.View(), first); err != nil {
			return fmt.Errorf("cut after %d to %d, after %d more events: %w", p, n, i, err)
		}
		full.Add(e)
		cut.Add(e)
	}
	if err := compareWindow(full.View(), cut.View(), first); err != nil {
		return fmt.Errorf("cut after %d to %d, at the end: %w", p, n, err)
	}
	return nil
}

func TestRestoredReducerGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := randomEvents(rapidSource{t}, rapid.IntRange(1, 60).Draw(t, "events"))
		p, n := rapid.IntRange(0, len(events)).Draw(t, "cut"), rapid.IntRange(0, 4).Draw(t, "n")
		var options []Option
		if rapid.Bool().Draw(t, "registry") {
			options = append(options, WithRegistry(testRegistry{}))
		}
		if err := checkRestore(events, p, n, nil, options...); err != nil {
			t.Fatal(err)
		}
	})
}

// streamCut is a stream with a snapshot of n messages after p events.
type streamCut struct {
	events []event.Event
	p, n   int
	data   []byte
}

// Without any one field of a snapshot, checkRestore finds a difference on some
// stream.
func TestEachSnapshotFieldIsNeeded(t *testing.T) {
	g := NewWithT(t)
	var streams []streamCut
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := streamCut{events: randomEvents(r, 100)}
		s.p, s.n = r.IntN(80), r.IntN(4)
		red := New(WithRegistry(testRegistry{}))
		for _, e := range s.events[:s.p] {
			red.Add(e)
		}
		var err error
		s.data, err = red.Snapshot(s.n)
		g.Expect(err).NotTo(HaveOccurred())
		streams = append(streams, s)
	}
	paths := [][]string{}
	for _, s := range []struct {
		of   any
		path []string
	}{
		{snapshot{}, nil},
		{turnState{}, []string{"turns"}},
		{messageState{}, []string{"messages"}},
		{listState{}, []string{"messages", "open"}},
		{nodeState{}, []string{"messages", "open", "nodes"}},
		{key{}, []string{"messages", "open", "nodes", "kids", "nodes", "key"}},
		{listState{}, []string{"messages", "open", "nodes", "kids"}},
		{namedState{}, []string{"asks"}},
		{namedState{}, []string{"waiting"}},
		{partState{}, []string{"parts"}},
	} {
		typ := reflect.TypeOf(s.of)
		for field := range typ.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			paths = append(paths, append(slices.Clone(s.path), name))
		}
	}
	for _, path := range paths {
		missed := func(s streamCut) bool {
			damaged := withoutField(t, s.data, path)
			if bytes.Equal(damaged, s.data) {
				return false
			}
			return checkRestore(s.events, s.p, s.n, func([]byte) []byte { return damaged }, WithRegistry(testRegistry{})) != nil
		}
		if !slices.ContainsFunc(streams, missed) {
			t.Errorf("without %s nothing changes", strings.Join(path, "."))
		}
	}
}

// withoutField removes a member from JSON, in each element of the lists on its path.
func withoutField(t *testing.T, b []byte, path []string) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v, snapshotJSON); err != nil {
		t.Fatal(err)
	}
	var removeAt func(v any, path []string)
	removeAt = func(v any, path []string) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				removeAt(x, path)
			}
		case map[string]any:
			if len(path) == 1 {
				delete(v, path[0])
				return
			}
			removeAt(v[path[0]], path[1:])
		}
	}
	removeAt(v, path)
	out, err := json.Marshal(v, snapshotJSON)
	if err != nil {
		t.Fatal(err)
	}
	var same any
	if err := json.Unmarshal(b, &same, snapshotJSON); err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(v, same) {
		return b
	}
	return out
}

// Restore of any bytes returns an error or a usable reducer, and never panics.
func FuzzRestore(f *testing.F) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 10))
		red := New(WithRegistry(testRegistry{}))
		for _, e := range randomEvents(r, 60) {
			red.Add(e)
		}
		data, err := red.Snapshot(2)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, seed)
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 11))
		for _, damaged := range [][]byte{data, renumber(r, data)} {
			red, err := Restore(damaged, WithRegistry(testRegistry{}))
			if err != nil {
				if !errors.Is(err, ErrSnapshot) {
					t.Fatalf("not an ErrSnapshot: %v", err)
				}
				continue
			}
			for _, e := range randomEvents(r, 60) {
				e.Seq += red.Seq()
				e.SessionID = red.Session()
				red.Add(e)
				if err := red.Chat().Render(io.Discard, RenderOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := red.Snapshot(2); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// renumber changes some digits and kinds, so that references are wrong.
func renumber(r *rand.Rand, data []byte) []byte {
	out := slices.Clone(data)
	for i := range out {
		if out[i] >= '1' && out[i] <= '9' && r.IntN(20) == 0 {
			out[i] = byte('0' + r.IntN(10))
		}
	}
	for _, k := range []Kind{KindText, KindTool, KindSubagent, KindPermission} {
		if r.IntN(3) == 0 {
			out = bytes.Replace(out, []byte(`"kind":"`+k+`"`), []byte(`"kind":"plan"`), 1)
		}
	}
	return out
}

package page_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/backend/page"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/streamgolden"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// session is a case as a page gets it live, and as it gets it from the log.
type session struct {
	ID     string        `json:"id"`
	Live   []*page.Patch `json:"live"`
	Stored *page.Patch   `json:"stored"`
}

// cut returns the patches of a session whose events arrive in random portions, with
// reconnects and reloads, after each of which the server begins with a full patch.
func cut(id string, events []event.Event, r *rand.Rand) session {
	out := session{ID: id}
	reducer, differ := replay.New(), &page.Differ{}
	patch := func() *page.Patch {
		v := reducer.View()
		return differ.Next(slices.Collect(v.Messages()), v, false)
	}
	out.Live = append(out.Live, patch())
	for i, e := range events {
		reducer.Add(e)
		if r.IntN(2) == 0 && i < len(events)-1 {
			continue
		}
		if r.IntN(12) == 0 {
			differ = &page.Differ{}
			if r.IntN(2) == 0 {
				reducer = replay.New()
				for _, stored := range events[:i+1] {
					reducer.Add(stored)
				}
			}
		}
		if p := patch(); p != nil {
			out.Live = append(out.Live, p)
		}
	}
	differ = &page.Differ{}
	out.Stored = patch()
	return out
}

// drawnCases returns some of the cases, or all if TURNSPEC_MATRIX is whole.
func drawnCases(t *testing.T) []string {
	t.Helper()
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	ids = slices.DeleteFunc(ids, func(id string) bool {
		_, err := fixtures.Embedded().Golden(id)
		return err != nil // a runtime without a reference adapter
	})
	if racesample.Whole() {
		return ids
	}
	var some []string
	for i := 0; i < len(ids); i += 15 {
		some = append(some, ids[i])
	}
	return some
}

// TestLiveEqualsReload draws each case live and from its log in a browser.
func TestLiveEqualsReload(t *testing.T) {
	b := startBrowser(t)
	x := b.newTab()
	x.open("file://" + emptyRecording(t))
	compare, err := os.ReadFile("testdata/equal.js")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(17, 4))
	ids := drawnCases(t)
	if len(ids) < 100 {
		t.Fatalf("only %d cases", len(ids))
	}
	patches, texts := 0, 0
	for some := range slices.Chunk(ids, 25) {
		var sessions []session
		for _, id := range some {
			s := cut(id, streamgolden.Events(t, fixtures.Embedded(), id), r)
			patches += len(s.Live)
			sessions = append(sessions, s)
		}
		data, err := json.Marshal(sessions, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			t.Fatal(err)
		}
		eval[bool](x, "globalThis.sessions = "+string(data)+", true")
		compared := eval[struct {
			Differ []string `json:"differ"`
			Texts  int      `json:"texts"`
		}](x, "("+string(compare)+")(sessions)")
		for _, problem := range compared.Differ {
			t.Error(problem)
		}
		texts += compared.Texts
	}
	if texts < len(ids) {
		t.Errorf("%d texts were compared, of %d cases", texts, len(ids))
	}
	t.Logf("%d cases, %d patches, %d texts", len(ids), patches, texts)
}

// emptyRecording returns a file that holds the page.
func emptyRecording(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	writeFile(t, file, page.Record("empty", nil))
	return file
}

func writeFile(t *testing.T, file string, r *page.Recording) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

package replay

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// recordedCase holds the events that the reference adapter emitted for a case.
type recordedCase struct {
	id     string
	events []event.Event
}

// loadCorpus returns the events of cases.
var loadCorpus = sync.OnceValues(func() ([]recordedCase, error) {
	all := fixtures.Embedded()
	ids, err := all.CaseIDs()
	if err != nil {
		return nil, err
	}
	if !racesample.Whole() {
		ids = fixtures.OneOfEachTopic(ids)
	}
	var out []recordedCase
	for _, id := range racesample.Sample(ids, 2) {
		lines, err := all.GoldenEvents(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a runtime without a reference adapter
		}
		if err != nil {
			return nil, err
		}
		c := recordedCase{id: id}
		for _, line := range lines {
			e, err := event.Decode(line)
			if err != nil {
				return nil, err
			}
			c.events = append(c.events, e)
		}
		out = append(out, c)
	}
	return out, nil
})

func corpusCases(t *testing.T) []recordedCase {
	t.Helper()
	all, err := loadCorpus()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("the corpus has %d cases only", len(all))
	}
	return all
}

// singleSessionCases returns the cases with one session, or with -short some of them.
func singleSessionCases(t *testing.T) []recordedCase {
	t.Helper()
	var out []recordedCase
	for i, c := range corpusCases(t) {
		alone := true
		for _, e := range c.events {
			alone = alone && e.SessionID == c.events[0].SessionID
		}
		if alone && (!testing.Short() || i%20 == 0) {
			out = append(out, c)
		}
	}
	return out
}

func TestCorpusRestored(t *testing.T) {
	for i, c := range singleSessionCases(t) {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		p, n := r.IntN(len(c.events)+1), r.IntN(5)
		if err := checkRestore(c.events, p, n, nil); err != nil {
			t.Errorf("%s: %v", c.id, err)
		}
	}
}

// The chat is the same live, with views after each event and events delivered twice,
// from stored events in any order, and through JSON and back.
func TestCorpusLiveAndStored(t *testing.T) {
	for i, c := range singleSessionCases(t) {
		r := rand.New(rand.NewPCG(uint64(i), 4))
		red := New()
		var stored []event.Event
		for at, e := range c.events {
			red.Add(e)
			v := red.View()
			stored = append(stored, e)
			if r.IntN(8) == 0 { // delivered again, with some earlier ones
				for _, again := range c.events[r.IntN(at+1) : at+1] {
					red.Add(again)
					stored = append(stored, again)
				}
			}
			if r.IntN(20) == 0 && !reflect.DeepEqual(v.Chat(), Reduce(stored)) {
				t.Errorf("%s: after seq %d the live chat is not the stored one", c.id, e.Seq)
			}
		}
		r.Shuffle(len(stored), func(i, j int) { stored[i], stored[j] = stored[j], stored[i] })
		live := red.Chat()
		if !reflect.DeepEqual(live, Reduce(stored)) {
			t.Errorf("%s: the live chat is not the stored one\n%s\n%s", c.id, prettyJSON(live), prettyJSON(Reduce(stored)))
		}
		var back Chat
		b, err := live.JSON()
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || prettyJSON(live) != prettyJSON(&back) { // prettyJSON formats nested JSON too
			t.Errorf("%s: the chat differs from its JSON: %v", c.id, err)
		}
	}
}

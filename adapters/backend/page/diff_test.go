package page_test

import (
	"math/rand/v2"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/backend/page"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/internal/streamgolden"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// shownBlock is a block as a page holds it.
type shownBlock struct {
	set    page.Block
	text   string
	blocks []shownBlock
}

// shownMessage is a message as a page holds it.
type shownMessage struct {
	head   any
	blocks []shownBlock
}

// applied is a chat as a page holds it, written in Go a second time.
type applied struct {
	head       *page.Head
	tasks      []replay.Task
	components []replay.Component
	messages   map[int]*shownMessage
}

func (a *applied) apply(p *page.Patch) {
	if p.Full {
		*a = applied{messages: map[int]*shownMessage{}}
	}
	if p.Head != nil {
		a.head = p.Head
	}
	if p.Tasks != nil {
		a.tasks = append([]replay.Task(nil), *p.Tasks...) // nil if there is none
	}
	if p.Components != nil {
		a.components = append([]replay.Component(nil), *p.Components...)
	}
	for _, n := range p.Removed {
		delete(a.messages, n)
	}
	for _, mp := range p.Messages {
		m := a.messages[mp.Number]
		if m == nil {
			m = &shownMessage{}
			a.messages[mp.Number] = m
		}
		if mp.Head != nil {
			m.head = mp.Head
		}
		if mp.Blocks != nil {
			m.blocks = applyBlocks(m.blocks, *mp.Blocks)
		}
	}
}

func applyBlocks(old []shownBlock, patches []page.BlockPatch) []shownBlock {
	var out []shownBlock
	for _, p := range patches {
		if p.Keep != nil {
			out = append(out, old[p.Keep[0]:p.Keep[1]]...)
			continue
		}
		var b shownBlock
		if p.Of != nil {
			b = old[*p.Of]
		}
		if p.Set != nil {
			b.set = *p.Set
		}
		if p.Text != nil {
			b.text = *p.Text
		}
		b.text += p.Append
		if p.Blocks != nil {
			b.blocks = applyBlocks(b.blocks, *p.Blocks)
		}
		out = append(out, b)
	}
	return out
}

// plain returns the chat as JSON, to compare it.
func (a *applied) plain(t *testing.T) string {
	t.Helper()
	var blocks func(list []shownBlock) []any
	blocks = func(list []shownBlock) (out []any) {
		for _, b := range list {
			out = append(out, []any{b.set, b.text, blocks(b.blocks)})
		}
		return out
	}
	messages := map[int]any{}
	for n, m := range a.messages {
		messages[n] = []any{m.head, blocks(m.blocks)}
	}
	b, err := json.Marshal([]any{a.head, a.tasks, a.components, messages}, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestPatchesLeadToTheChat applies the patches of each case, cut at random places, and
// compares the chat with that of one full patch. No browser is needed.
func TestPatchesLeadToTheChat(t *testing.T) {
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(17, 3))
	compared := 0
	for _, id := range racesample.Sample(ids, 15) {
		if _, err := fixtures.Embedded().Golden(id); err != nil {
			continue // a runtime without a reference adapter
		}
		s := cut(id, streamgolden.Events(t, fixtures.Embedded(), id), r)
		var live, stored applied
		for _, p := range s.Live {
			live.apply(p)
		}
		stored.apply(s.Stored)
		if got, want := live.plain(t), stored.plain(t); got != want {
			t.Errorf("%s: live\n%s\nstored\n%s", id, got, want)
		}
		compared++
	}
	if compared < 100 {
		t.Errorf("only %d cases", compared)
	}
}

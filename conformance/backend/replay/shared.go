package replay

import (
	"bytes"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/conformance"
)

func pretty(v any) ([]byte, error) {
	return json.Marshal(v, jsontext.WithIndent("  "), json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}

// sameChat compares two chats block for block.
func sameChat(f *conformance.Finding, text string, want, got *replay.Chat) {
	f.Asserted(len(want.Messages))
	if reflect.DeepEqual(want, got) {
		return
	}
	w, err1 := pretty(want)
	g, err2 := pretty(got)
	switch {
	case err1 != nil || err2 != nil:
		f.Failf("the chat cannot be written: %v %v", err1, err2)
	case !bytes.Equal(w, g): // nil and an empty list have the same JSON
		f.Diff(text, string(w)+"\n", string(g)+"\n")
	}
}

// eachBlock calls do for each block and, depth first, the blocks that it holds.
func eachBlock(blocks []replay.Block, do func(*replay.Block)) {
	for i := range blocks {
		do(&blocks[i])
		eachBlock(blocks[i].Blocks, do)
	}
}

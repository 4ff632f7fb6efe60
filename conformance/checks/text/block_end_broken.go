package text

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var leavesBlocksOpen = broken.Adapter{
	Name: "leaves-blocks-open", Sentence: "does not report that a block of text is complete",
	Proves: "text.block-end",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.BlockEnd); !ok || d.Status != event.BlockComplete {
			out(e)
		}
	}),
}

var interruptsEachBlock = broken.Adapter{
	Name: "interrupts-each-block", Sentence: "reports each block of text as interrupted",
	Proves: "text.block-end",
	Mutation: broken.Change(func(d *event.BlockEnd) {
		if d.Status == event.BlockComplete {
			d.Status = event.BlockInterrupted
		}
	}),
}

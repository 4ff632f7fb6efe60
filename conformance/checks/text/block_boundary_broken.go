package text

import (
	"strconv"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var oneBlockForAll = broken.Adapter{
	Name: "one-block-for-all", Sentence: "joins the text before and after a tool call into one block",
	Proves: "text.block-boundary",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		switch d := e.Data.(type) {
		case event.Delta:
			d.BlockID = "text"
			e.Data = d
		case event.BlockEnd:
			if d.Status == event.BlockComplete {
				return
			}
		}
		out(e)
	}),
}

var oneBlockForEachDelta = broken.Adapter{
	Name: "one-block-for-each-delta", Sentence: "shows each delta as a paragraph",
	Proves: "text.block-boundary",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		n := 0
		return func(e event.Event, out func(event.Event)) {
			switch d := e.Data.(type) {
			case event.Delta:
				n++
				d.BlockID += "." + strconv.Itoa(n)
				e.Data = d
				out(e)
				e.Data = event.BlockEnd{BlockID: d.BlockID, Status: event.BlockComplete}
			case event.BlockEnd:
				return
			}
			out(e)
		}
	}},
}

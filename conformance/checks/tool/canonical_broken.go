package tool

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var keepsNativeNames = broken.Adapter{
	Name: "keeps-native-names", Sentence: "reports tools by the runtime's own names",
	Proves:   "tool.canonical",
	Mutation: broken.Change(func(d *event.ToolStart) { d.Tool = "native_" + d.Tool }),
}

var cutsNames = broken.Adapter{
	Name: "cuts-names", Sentence: "cuts the name of a server's tool at its first - or point",
	Proves: "tool.canonical",
	Mutation: broken.Change(func(d *event.ToolStart) {
		if i := strings.IndexAny(d.Tool, "-."); i > 0 {
			d.Tool = d.Tool[:i]
		}
	}),
}

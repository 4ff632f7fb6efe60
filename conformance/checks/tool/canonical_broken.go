package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var keepsNativeNames = broken.Adapter{
	Name: "keeps-native-names", Sentence: "reports tools by the runtime's own names",
	Fails:    []string{"component.tool-linked", "replay.tool-linked", "tool.canonical"},
	Mutation: broken.EachToolStart(func(d *event.ToolStart) { d.Tool = "native_" + d.Tool }),
}

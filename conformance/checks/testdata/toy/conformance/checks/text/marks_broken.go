package text

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var dropsMarks = broken.Adapter{
	Name: "drops-marks", Sentence: "drops marks that combine with a letter",
	Proves:   "text.marks",
	Mutation: broken.Change(func(d *event.Delta) { d.Text = strings.ReplaceAll(d.Text, diaeresis, "") }),
}

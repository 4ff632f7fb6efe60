package turn

import (
	"bytes"
	"io"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/conformance/perform"
)

var stoppedToolsFail = broken.Adapter{
	Name: "stopped-tools-fail", Sentence: "reports a stopped tool as failed",
	Proves: "turn.stop",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.ToolResult); ok && (d.Status == event.ToolInterrupted || d.Status == event.ToolBackgrounded) {
			d.Status, d.IsError = event.ToolError, true
			e.Data = d
		}
		out(e)
	}),
}

var stopsSlowly = broken.Adapter{
	Name: "stops-slowly", Sentence: "reports late that a turn was stopped",
	Proves: "turn.stop",
	// The adapter of Codex ends a turn by itself when the session is closed: then Close takes
	// as long, and no other event shows that events are delayed.
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Done); ok && d.Stopped {
			time.Sleep(perform.EndLimit + time.Second)
		}
		out(e)
	}),
}

var killsInsteadOfStopping = broken.Adapter{
	Name: "kills-instead-of-stopping", Sentence: "writes no interrupt, and waits until it may kill the runtime",
	Proves: "turn.stop",
	Mutation: broken.Mutation{Write: func(line []byte, w io.Writer) error {
		if bytes.Contains(line, []byte("interrupt")) {
			return nil
		}
		_, err := w.Write(line)
		return err
	}},
}

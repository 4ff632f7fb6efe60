package different

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// The adapters below write other lines to the runtime than the reference, which mean the same.

var addsMembers = Adapter{
	Name: "adds-members", Sentence: "writes a member that no runtime knows, at the end of each line",
	Write: eachLine(func(line []byte, w io.Writer) error {
		text, end, _ := strings.Cut(string(line), "\n")
		if v := jsontext.Value(text); v.IsValid() && v.Kind() == '{' && strings.HasSuffix(text, "}") && text != "{}" {
			text = strings.TrimSuffix(text, "}") + `,"x-client":{"build":7}}`
		}
		_, err := io.WriteString(w, text+"\n"+end)
		return err
	}),
}

var spacesJSON = Adapter{
	Name: "spaces-json", Sentence: "writes white space between the parts of its lines, and ends them with a carriage return too",
	Write: eachLine(func(line []byte, w io.Writer) error {
		v := jsontext.Value(bytes.Clone(bytes.TrimRight(line, "\n")))
		if v.Format(jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true), jsontext.PreserveRawStrings(true)) != nil {
			_, err := w.Write(line)
			return err
		}
		_, err := w.Write(append(v, "\r\n"...))
		return err
	}),
}

var client = regexp.MustCompile(`("clientInfo":\{[^}]*"name":")[^"]*("[^}]*"version":")[^"]*`)

var namesItself = Adapter{
	Name: "names-itself", Sentence: "has another name and version as a client",
	Write: eachLine(func(line []byte, w io.Writer) error {
		_, err := w.Write(client.ReplaceAll(line, []byte("${1}harbor${2}9.9")))
		return err
	}),
}

var batchesEvents = Adapter{
	Name: "batches-events", Sentence: "emits events in batches, each 10 ms", Delays: true,
	Relay: func(in <-chan event.Event, send func(event.Event) bool) {
		var kept []event.Event
		tick := time.NewTicker(batch)
		defer tick.Stop()
		flush := func() {
			for _, e := range kept {
				send(e)
			}
			kept = nil
		}
		for {
			select {
			case <-tick.C:
				flush()
			case e, ok := <-in:
				if !ok {
					flush()
					return
				}
				kept = append(kept, e)
			}
		}
	},
}

var joinsOutput = Adapter{
	Name: "joins-output", Sentence: "emits the output of a tool in one piece, before its result",
	Events: func(event.Position) func(e event.Event, out func(event.Event)) {
		kept := map[string]event.Event{}
		return func(e event.Event, out func(event.Event)) {
			switch d := e.Data.(type) {
			case event.ToolOutput:
				first, ok := kept[d.ToolUseID]
				if before, is := first.Data.(event.ToolOutput); ok && is {
					d.Text = before.Text + d.Text
				}
				e.Data = d
				kept[d.ToolUseID] = e
				return
			case event.ToolResult:
				if first, ok := kept[d.ToolUseID]; ok {
					first.TS = e.TS
					out(first)
					delete(kept, d.ToolUseID)
				}
			}
			out(e)
		}
	},
}

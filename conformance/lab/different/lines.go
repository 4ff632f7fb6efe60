package different

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// The adapters below write other lines to the runtime than the reference, which mean the same.

// requestBase is added to the ids of requests.
const requestBase = 4000

var (
	requestID = regexp.MustCompile(`^(\{(?:"jsonrpc":"2.0",)?"id":)(\d+)(,"method":)`)
	replyID   = regexp.MustCompile(`(^\{(?:"jsonrpc":"2.0",)?"id":|"id":)(\d+)(\}?\n?$|,)`)
)

var numbersRequests = Adapter{
	Name: "numbers-requests", Sentence: "counts its requests from 4000",
	Write: eachLine(func(line []byte, w io.Writer) error {
		_, err := w.Write(requestID.ReplaceAllFunc(line, func(m []byte) []byte {
			parts := requestID.FindSubmatch(m)
			n, _ := strconv.Atoi(string(parts[2])) // it matched
			return fmt.Appendf(nil, "%s%d%s", parts[1], n+requestBase, parts[3])
		}))
		return err
	}),
	Read: lineReader(func(line []byte) []byte {
		if bytes.Contains(line, []byte(`"method":`)) {
			return line
		}
		return replyID.ReplaceAllFunc(line, func(m []byte) []byte {
			parts := replyID.FindSubmatch(m)
			n, err := strconv.Atoi(string(parts[2]))
			if err != nil || n < requestBase {
				return m
			}
			return fmt.Appendf(nil, "%s%d%s", parts[1], n-requestBase, parts[3])
		})
	}),
}

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

// lineReader returns a Read that changes each line.
func lineReader(change func(line []byte) []byte) func(r io.Reader) io.Reader {
	return func(r io.Reader) io.Reader {
		return &changedLines{r: r, change: change}
	}
}

type changedLines struct {
	r            io.Reader
	change       func([]byte) []byte
	rest, behind []byte // behind is a line without its end
	err          error
}

func (c *changedLines) Read(b []byte) (int, error) {
	for len(c.rest) == 0 {
		if c.err != nil {
			if len(c.behind) == 0 {
				return 0, c.err
			}
			c.rest, c.behind = c.change(c.behind), nil
			continue
		}
		buf := make([]byte, 32<<10)
		n, err := c.r.Read(buf)
		c.behind, c.err = append(c.behind, buf[:n]...), err
		for {
			end := bytes.IndexByte(c.behind, '\n')
			if end < 0 {
				break
			}
			c.rest = append(c.rest, c.change(bytes.Clone(c.behind[:end+1]))...)
			c.behind = bytes.Clone(c.behind[end+1:])
		}
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *changedLines) Close() error {
	if x, ok := c.r.(io.Closer); ok {
		return x.Close()
	}
	return nil
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

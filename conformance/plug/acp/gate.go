package acp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	linereader "github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/conformance/plug"
)

// gate passes the agent's lines to the connection one at a time: it passes a line on
// when the line before it has been handled. Without it, the connection could handle a
// request before earlier notifications, or a notification before an earlier reply, but
// checks judge their order.
type gate struct {
	lines   *linereader.Reader
	garbage func(line []byte) // called with a line that is no message
	tooLong func(line []byte) // called with the beginning of a line that is too long, the last one

	rest []byte // the unread part of the last line

	mu      sync.Mutex
	handled chan struct{} // closed when the last line has been handled
}

// ackLimit bounds the wait for a line that has no handler, such as a reply without a
// request.
const ackLimit = 5 * time.Second

func newGate(r io.Reader, garbage, tooLong func([]byte)) *gate {
	return &gate{lines: plug.NewLines(r), garbage: garbage, tooLong: tooLong}
}

// Read implements io.Reader.
func (g *gate) Read(p []byte) (int, error) {
	if len(g.rest) == 0 {
		g.awaitHandled()
		line, err := g.nextMessage()
		if err != nil {
			return 0, err
		}
		g.rest = append(bytes.Clone(line), '\n')
		g.mu.Lock()
		g.handled = make(chan struct{})
		g.mu.Unlock()
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// nextMessage returns the next line that is a message.
func (g *gate) nextMessage() ([]byte, error) {
	for {
		line, err := g.lines.Next()
		if errors.Is(err, linereader.ErrTooLong) {
			g.tooLong(line)
		}
		if err != nil {
			return nil, err
		}
		var m struct {
			ID     jsontext.Value `json:"id"`
			Method string         `json:"method"`
		}
		switch err := json.Unmarshal(line, &m, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); {
		case len(bytes.TrimSpace(line)) == 0:
		case err != nil || m.ID == nil && m.Method == "":
			g.garbage(bytes.Clone(line))
		default:
			return line, nil
		}
	}
}

func (g *gate) awaitHandled() {
	g.mu.Lock()
	handled := g.handled
	g.mu.Unlock()
	if handled != nil {
		plug.WaitFor(context.Background(), handled, ackLimit)
	}
}

// ack reports that the last line has been handled.
func (g *gate) ack() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.handled != nil {
		select {
		case <-g.handled:
		default:
			close(g.handled)
		}
	}
}

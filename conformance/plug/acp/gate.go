package acp

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/proc"
)

// gate gives the connection the agent's lines one at a time: the next one when
// the one before has been dealt with. The connection alone would let a request
// overtake notifications, and a reply the ones behind it: their order is what is
// judged.
type gate struct {
	lines   *proc.Lines
	garbage func(line []byte) // is told of what is no message

	rest []byte // of the line that is being read

	mu   sync.Mutex
	busy chan struct{} // closed when the last line has been dealt with
}

// ackLimit bounds the wait for a line that nobody deals with: a reply to nothing.
const ackLimit = 5 * time.Second

func newGate(r io.Reader, garbage func([]byte)) *gate {
	return &gate{lines: proc.NewLines(r, 0), garbage: garbage}
}

// Read implements io.Reader.
func (g *gate) Read(p []byte) (int, error) {
	if len(g.rest) == 0 {
		g.wait()
		line, err := g.next()
		if err != nil {
			return 0, err
		}
		g.rest = append(bytes.Clone(line), '\n')
		g.mu.Lock()
		g.busy = make(chan struct{})
		g.mu.Unlock()
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// next is the next line that is a message.
func (g *gate) next() ([]byte, error) {
	for {
		line, err := g.lines.Next()
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

func (g *gate) wait() {
	g.mu.Lock()
	busy := g.busy
	g.mu.Unlock()
	if busy == nil {
		return
	}
	t := time.NewTimer(ackLimit)
	defer t.Stop()
	select {
	case <-busy:
	case <-t.C:
	}
}

// ack says that the last line has been dealt with.
func (g *gate) ack() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy != nil {
		select {
		case <-g.busy:
		default:
			close(g.busy)
		}
	}
}

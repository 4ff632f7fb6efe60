package drive

import (
	"bytes"
	"context"
	"fmt"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Read is a read or a setting that a client may request. In Params, THREAD stands
// for the session's id, TURN for the id of its turn, SIDE for the thread that was
// started beside it, WORK for the working directory. Then is the last line that
// the request causes after its reply, or "".
type Read struct{ Method, Params, Then string }

// Exchange is where a request of RunReads stands in the wire: the index of its
// line, that of its reply, and the index after the lines that came with it.
// Request is -1 if it was not found.
type Exchange struct {
	Method                string
	Request, Reply, Limit int
}

// RunReads performs the scenario and then makes each request of Client.Reads, one
// after the other.
func RunReads(ctx context.Context, o Options) ([]Exchange, error) {
	var lines []fixtures.WireLine
	tee := o.Tee
	o.Tee = func(l fixtures.WireLine) {
		lines = append(lines, l)
		tee(l)
	}
	var out []Exchange
	err := withDriver(ctx, o, func(d *Driver) error {
		if err := d.runSteps(); err != nil {
			return err
		}
		if method := handshakeOf(o.Runtime.Wire, lines); method != "" {
			out = append(out, findExchange(o.Runtime.Wire, lines, method, 0, len(lines)))
		}
		for _, r := range d.client.Reads() {
			from := len(lines)
			if err := d.client.Request(r); err != nil {
				return fmt.Errorf("%s: %w", r.Method, err)
			}
			fence := len(lines)
			if err := d.client.Fence(); err != nil {
				return fmt.Errorf("after %s: %w", r.Method, err)
			}
			x := findExchange(o.Runtime.Wire, lines, r.Method, from, fence)
			// The lines before the reply to the fence came with the request.
			x.Limit = len(lines) - 1
			out = append(out, x)
		}
		return d.closeStdin()
	})
	return out, err
}

// handshakeOf returns the method of the handshake, or "" if the wire has none.
func handshakeOf(rt *wire.Runtime, lines []fixtures.WireLine) string {
	for _, w := range lines {
		if l := w.Read(rt); w.Dir == fixtures.In && l.Step.Handshake {
			return l.Method
		}
	}
	return ""
}

// findExchange finds the first request in lines[from:limit], and its reply.
func findExchange(rt *wire.Runtime, lines []fixtures.WireLine, method string, from, limit int) Exchange {
	x := Exchange{Method: method, Request: -1}
	var id []byte
	for i := from; i < limit; i++ {
		switch l := lines[i].Read(rt); {
		case lines[i].Dir == fixtures.In && x.Request < 0:
			x.Request, id = i, l.ID
		case lines[i].Dir == fixtures.Out && (l.Kind == wire.Reply || l.Kind == wire.TurnEnd) && bytes.Equal(l.RepliesTo, id):
			x.Reply, x.Limit = i, i+1
			return x
		}
	}
	return x
}

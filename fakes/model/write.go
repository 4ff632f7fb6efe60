package model

import (
	"context"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
)

// replyWriter writes one reply.
type replyWriter struct {
	s     *Server
	v     encoder
	x     *exchange
	sink  sink
	calls []wireCall
	usage *fixtures.Usage
	begun bool
	cur   *part    // the open block
	raw   []string // the raw reasoning of the open block, which is sent at its end
	held  bool     // a hold came after the last text
}

// writeReply writes the parts. Its error is why the reply ended early.
func (s *Server) writeReply(ctx context.Context, v encoder, k sink, x *exchange, parts []fixtures.Part, calls []wireCall) error {
	y := &replyWriter{s: s, v: v, x: x, sink: k, calls: calls}
	end := ""
	for _, p := range parts {
		if p.Usage != nil {
			y.usage = p.Usage
		}
	}
	for _, p := range parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		end = p.End
		if err := y.writePart(ctx, p); err != nil {
			return err
		}
	}
	if err := y.start(); err != nil {
		return err
	}
	if err := y.closeBlock(); err != nil {
		return err
	}
	// The client may ask again, or read the witness, as soon as it has the last byte.
	if end != "" {
		s.recordEnd(x, fixtures.EndedShort, 0)
	} else {
		s.recordEnd(x, fixtures.EndedComplete, 0)
	}
	return v.finish(end)
}

// start starts the reply, once. A reply that breaks off before leaves nothing.
func (y *replyWriter) start() error {
	if y.begun {
		return nil
	}
	y.begun = true
	return y.v.start(y.usage)
}

func (y *replyWriter) closeBlock() error {
	if y.cur == nil {
		return nil
	}
	y.s.mu.Lock()
	y.cur.open = false
	y.s.mu.Unlock()
	y.cur = nil
	if err := y.v.closeBlock(); err != nil {
		return err
	}
	if y.raw != nil { // the witness has it as a separate part
		raw := &part{think: true}
		raw.text.WriteString(strings.Join(y.raw, ""))
		y.s.recordPart(y.x, raw)
		y.raw = nil
	}
	return nil
}

func (y *replyWriter) writePart(ctx context.Context, p fixtures.Part) error {
	switch {
	case p.Usage != nil, p.End != "":
		return nil
	case p.Cut:
		return errCut
	case p.Close:
		y.s.recordEnd(y.x, fixtures.EndedCut, 0)
		if err := y.sink.raw(""); err != nil {
			return err
		}
		return errClose
	case p.Bytes != "":
		y.held = true
		return y.sink.raw(p.Bytes)
	}
	if err := y.start(); err != nil {
		return err
	}
	switch {
	case p.Text != nil || p.Think != nil:
		return y.writeText(ctx, p)
	case p.Redacted != "":
		if err := y.closeBlock(); err != nil {
			return err
		}
		return y.v.addRedacted(p.Redacted)
	case p.Search != nil:
		if err := y.closeBlock(); err != nil {
			return err
		}
		return y.v.addSearch(p.Search)
	case p.Tool != nil:
		return y.addCall(p.Tool)
	case p.Hold != "":
		y.held = true
		return y.s.waitAtHold(ctx, y.x, p.Hold)
	case p.Stall:
		y.s.mu.Lock()
		y.s.notifyChange()
		y.s.mu.Unlock()
		<-ctx.Done()
		return ctx.Err()
	case p.Fail != nil:
		if err := y.v.fail(p.Fail); err != nil {
			return err
		}
		return errFailed
	}
	return nil
}

// writeText writes text or reasoning. After a hold, more of the same kind continues the same
// block; so does any of the same kind if the API does not separate texts, and then the witness has
// both as one part.
func (y *replyWriter) writeText(ctx context.Context, p fixtures.Part) error {
	think := p.Think != nil
	deltas := p.Text
	if think {
		deltas = p.Think
	}
	same := y.cur != nil && y.cur.think == think
	if same && p.Form.Next {
		next, err := y.v.nextPart()
		if err != nil {
			return err
		}
		if next {
			y.s.mu.Lock()
			y.cur.open = false
			y.s.mu.Unlock()
			y.startPart(think)
			y.held = true // the block goes on
		}
	}
	if !same || !y.held {
		joins := same && !y.v.separatesTexts()
		closeBlock := y.closeBlock
		if joins {
			closeBlock = y.v.closeBlock // the part of the witness goes on
		}
		if err := closeBlock(); err != nil {
			return err
		}
		if err := y.v.openBlock(think, p.Form); err != nil {
			return err
		}
		if !joins {
			y.startPart(think)
		}
	}
	y.held = false
	for _, d := range deltas {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := y.v.addDelta(d); err != nil {
			return err
		}
		y.recordText(d)
	}
	// The witness records the final text instead of the deltas.
	if f := p.Form.Final; f != nil {
		y.s.mu.Lock()
		y.cur.text.Reset()
		y.s.mu.Unlock()
		y.recordText(*f)
	}
	y.raw = append(y.raw, p.Form.Raw...)
	return nil
}

func (y *replyWriter) startPart(think bool) {
	y.cur = &part{think: think, open: true}
	y.s.recordPart(y.x, y.cur)
}

func (y *replyWriter) recordText(text string) {
	y.s.mu.Lock()
	defer y.s.mu.Unlock()
	y.cur.text.WriteString(text)
}

func (y *replyWriter) addCall(t *fixtures.ToolCall) error {
	y.held = false
	if err := y.closeBlock(); err != nil {
		return err
	}
	c := y.calls[0]
	y.calls = y.calls[1:]
	if err := y.v.addCall(c); err != nil {
		return err
	}
	if t.Unfinished { // it was never complete
		return nil
	}
	said := fixtures.OutputPart{Tool: t.Tool, Name: c.full(), ID: t.ID, Input: t.Input}
	if t.InvalidInput != "" { // the runtime never got the input
		said.Input = nil
	}
	y.s.recordPart(y.x, &part{OutputPart: said})
	return nil
}

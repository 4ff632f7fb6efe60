package model

import (
	"context"

	"github.com/turnspec/turnspec/fixtures"
)

// saying is a reply on its way.
type saying struct {
	s     *Server
	v     voice
	x     *exchange
	sink  sink
	calls []wireCall
	usage *fixtures.Usage
	begun bool
	cur   *part // the open block
	held  bool  // a hold came after what was said last
}

// say says the parts. Its error says how it came to an end before the end.
func (s *Server) say(ctx context.Context, v voice, k sink, x *exchange, parts []fixtures.Part, calls []wireCall) error {
	y := &saying{s: s, v: v, x: x, sink: k, calls: calls}
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
		if err := y.part(ctx, p); err != nil {
			return err
		}
	}
	if err := y.begin(); err != nil {
		return err
	}
	if err := y.shut(); err != nil {
		return err
	}
	// The client may ask again, or read the witness, as soon as it has the last byte.
	if end != "" {
		s.ended(x, fixtures.EndedShort, 0)
	} else {
		s.ended(x, fixtures.EndedComplete, 0)
	}
	return v.end(end)
}

// begin begins the reply, once: what breaks off before that leaves nothing.
func (y *saying) begin() error {
	if y.begun {
		return nil
	}
	y.begun = true
	return y.v.begin(y.usage)
}

func (y *saying) shut() error {
	if y.cur == nil {
		return nil
	}
	y.s.mu.Lock()
	y.cur.open = false
	y.s.mu.Unlock()
	y.cur = nil
	return y.v.shut()
}

func (y *saying) part(ctx context.Context, p fixtures.Part) error {
	switch {
	case p.Usage != nil, p.End != "":
		return nil
	case p.Cut:
		return errCut
	case p.Close:
		y.s.ended(y.x, fixtures.EndedCut, 0)
		if err := y.sink.raw(""); err != nil {
			return err
		}
		return errClose
	case p.Bytes != "":
		y.held = true
		return y.sink.raw(p.Bytes)
	}
	if err := y.begin(); err != nil {
		return err
	}
	switch {
	case p.Text != nil || p.Think != nil:
		return y.words(ctx, p)
	case p.Redacted != "":
		if err := y.shut(); err != nil {
			return err
		}
		return y.v.redacted(p.Redacted)
	case p.Search != nil:
		if err := y.shut(); err != nil {
			return err
		}
		return y.v.search(p.Search)
	case p.Tool != nil:
		return y.call(p.Tool)
	case p.Hold != "":
		y.held = true
		return y.s.stand(ctx, y.x, p.Hold)
	case p.Stall:
		y.s.mu.Lock()
		y.s.change()
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

// words says text or reasoning. After a hold, more of the same goes on in the same block.
func (y *saying) words(ctx context.Context, p fixtures.Part) error {
	think := p.Think != nil
	deltas := p.Text
	if think {
		deltas = p.Think
	}
	if !y.held || y.cur == nil || y.cur.think != think {
		if err := y.shut(); err != nil {
			return err
		}
		if err := y.v.open(think, p.How); err != nil {
			return err
		}
		y.enter(think)
	}
	y.held = false
	for _, d := range deltas {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := y.v.delta(d); err != nil {
			return err
		}
		y.write(d)
	}
	// What stands for the deltas at the end is what the model said; reasoning
	// in its own words is a part of its own.
	if f := p.How.Final; f != nil {
		y.s.mu.Lock()
		y.cur.text.Reset()
		y.s.mu.Unlock()
		y.write(*f)
	}
	if p.How.Raw != nil {
		y.enter(true)
		for _, d := range p.How.Raw {
			y.write(d)
		}
	}
	return nil
}

func (y *saying) enter(think bool) {
	y.cur = &part{think: think, open: true}
	y.s.add(y.x, y.cur)
}

func (y *saying) write(text string) {
	y.s.mu.Lock()
	defer y.s.mu.Unlock()
	y.cur.text.WriteString(text)
}

func (y *saying) call(t *fixtures.ToolCall) error {
	y.held = false
	if err := y.shut(); err != nil {
		return err
	}
	c := y.calls[0]
	y.calls = y.calls[1:]
	if err := y.v.call(c); err != nil {
		return err
	}
	if t.Open { // it was never made
		return nil
	}
	said := fixtures.Said{Tool: t.Tool, Name: c.full(), ID: t.ID, Input: t.Input}
	if t.Spoil != "" { // the runtime never got the input
		said.Input = nil
	}
	y.s.add(y.x, &part{Said: said})
	return nil
}

package golden

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend/chats"
)

// outline returns the structure of a chat: a line for the chat's own fields, and one
// for each message and block, indented by nesting. A line has all fields except
// texts, inputs and outputs, which the events of the golden have already. Derived
// values follow the fields.
func outline(c *replay.Chat) string {
	var b strings.Builder
	head := *c
	head.Messages = nil
	line(&b, 0, head)
	turns := map[int]bool{}
	for i := range c.Messages {
		m := &c.Messages[i]
		head := *m
		head.Blocks, head.Start, head.End = nil, time.Time{}, time.Time{}
		line(&b, 0, head, span(m.Start, m.End), flat(m))
		for j := range m.Blocks {
			outlined(&b, 1, &m.Blocks[j])
		}
		if m.Figures != nil && !turns[m.Turn] {
			s := c.Stats(m.Turn)
			s.Figures = nil
			line(&b, 1, s)
			turns[m.Turn] = true
		}
	}
	return b.String()
}

func outlined(b *strings.Builder, depth int, block *replay.Block) {
	head := *block
	head.Text, head.Blocks, head.Start, head.End = "", nil, time.Time{}, time.Time{}
	more := []string{span(block.Start, block.End)}
	if block.Tool != nil {
		t := *block.Tool
		t.Input, t.Output, t.Changes = nil, "", nil
		head.Tool = &t
		more = append(more, string(block.Tool.Category()), block.Summary(), block.Outcome())
		if x, ok := block.Tool.Exchange(); ok {
			with := ""
			if x.Text != "" {
				with = " with words"
			}
			more = append(more, fmt.Sprintf("%s %q%s", x.Verb, x.To, with))
		}
	}
	if block.Permission != nil {
		p := *block.Permission
		p.Input = nil
		head.Permission = &p
	}
	if block.Interrupt != nil {
		i := *block.Interrupt
		i.Props, i.Value = nil, nil
		head.Interrupt = &i
	}
	line(b, depth, head, more...)
	for i := range block.Blocks {
		outlined(b, depth+1, &block.Blocks[i])
	}
}

func line(b *strings.Builder, depth int, v any, more ...string) {
	b.WriteString(strings.Repeat("  ", depth))
	if err := json.MarshalWrite(b, v, conformance.CanonicalJSON); err != nil {
		fmt.Fprintf(b, "%v", err)
	}
	for _, s := range more {
		if s != "" {
			b.WriteString(" | ")
			b.WriteString(s)
		}
	}
	b.WriteByte('\n')
}

// span formats a start and an end in minutes and seconds.
func span(start, end time.Time) string {
	const form = "04:05.999999999"
	if end.IsZero() {
		return start.Format(form) + "–"
	}
	return start.Format(form) + "–" + end.Format(form)
}

// flat counts the parts of a message's flat form, which has no blocks.
func flat(m *replay.Message) string {
	f := m.Flat()
	if f.Role == replay.RoleUser {
		return ""
	}
	b, err := json.Marshal(struct {
		Text, Thinking, Tools, Components, Subagents int    `json:",omitzero"`
		Thought, Plan, Interrupted, Done             bool   `json:",omitzero"`
		Error                                        string `json:",omitzero"`
	}{
		len(f.Content), len(f.Thinking.Content), len(f.Tools), len(f.Components), len(f.Subagents),
		f.Thinking.Done, f.Plan != nil, f.Interrupted, f.Done, f.Error,
	}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// course returns each status line that the live chat showed as the events arrived.
func course(r *conformance.Run) (string, error) {
	var b strings.Builder
	var c chats.Live
	last := map[string]replay.Doing{}
	for _, e := range r.Events {
		c.Add(e.Event)
		v := c.View(e.SessionID)
		if v == nil {
			_, err := c.Chat()
			return "", err
		}
		d := v.Doing()
		if d == last[e.SessionID] {
			continue
		}
		last[e.SessionID] = d
		rest := ""
		if !d.Busy {
			rest = ", at rest"
		}
		fmt.Fprintf(&b, "%s %s%s: %s\n", e.TS.Format("04:05.999999999"), d.Kind, rest, d.Label)
	}
	return b.String(), nil
}

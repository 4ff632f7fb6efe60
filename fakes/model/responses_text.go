package model

import (
	"strings"

	"github.com/turnspec/turnspec/fixtures"
)

// openBlock begins an item. An item without deltas is written only at its end.
func (v *responsesEncoder) openBlock(think bool, how fixtures.Form) error {
	v.think, v.how, v.part, v.parts = think, how, false, nil
	v.text.Reset()
	prefix := "msg_"
	var item any
	if think {
		prefix = "rs_"
	}
	if v.item = how.ID; v.item == "" {
		v.item = v.o.id(prefix)
	}
	if how.Whole {
		return nil
	}
	item = oMessage{"message", v.item, "assistant", "in_progress", []oText{}, how.Phase}
	if think {
		item = oReasoning{Type: "reasoning", ID: v.item, Summary: []oSummary{}}
	}
	if err := v.event(oEvent{Type: "response.output_item.added", Output: v.outputIndex(), Item: item}); err != nil || think {
		return err
	}
	return v.event(oEvent{Type: "response.content_part.added", Output: v.outputIndex(), ItemID: v.item, Content: new(int), Part: oText{"output_text", "", []any{}}})
}

func (v *responsesEncoder) addDelta(s string) error {
	v.text.WriteString(s)
	switch {
	case v.how.Whole:
		return nil
	case !v.think:
		return v.event(oEvent{Type: "response.output_text.delta", Output: v.outputIndex(), ItemID: v.item, Content: new(int), Delta: &s})
	case !v.part: // empty reasoning has no part
		v.part = true
		if err := v.event(oEvent{Type: "response.reasoning_summary_part.added", Output: v.outputIndex(), ItemID: v.item, Summary: new(len(v.parts)), Part: oSummary{Type: "summary_text"}}); err != nil {
			return err
		}
	}
	return v.event(oEvent{Type: "response.reasoning_summary_text.delta", Output: v.outputIndex(), ItemID: v.item, Summary: new(len(v.parts)), Delta: &s})
}

func (v *responsesEncoder) closeBlock() error {
	s := v.text.String()
	if v.think {
		return v.endReasoning(s)
	}
	final := s
	if v.how.Final != nil {
		final = *v.how.Final
	}
	part := oText{"output_text", final, []any{}}
	if !v.how.Whole {
		for _, e := range []oEvent{
			{Type: "response.output_text.done", ItemID: v.item, Content: new(int), Text: &s},
			{Type: "response.content_part.done", ItemID: v.item, Content: new(int), Part: part},
		} {
			e.Output = v.outputIndex()
			if err := v.event(e); err != nil {
				return err
			}
		}
	}
	return v.endItem(oMessage{"message", v.item, "assistant", "completed", []oText{part}, v.how.Phase})
}

// endReasoning ends reasoning: its summary, and the raw reasoning.
func (v *responsesEncoder) endReasoning(s string) error {
	if err := v.endPart(s); err != nil {
		return err
	}
	item := oReasoning{Type: "reasoning", ID: v.item, Summary: append([]oSummary{}, v.parts...)}
	var evs []oEvent
	if v.how.Raw != nil {
		raw := strings.Join(v.how.Raw, "")
		item.Content = []oSummary{{"reasoning_text", raw}}
		for i := range v.how.Raw {
			evs = append(evs, oEvent{Type: "response.reasoning_text.delta", Content: new(int), Delta: &v.how.Raw[i]})
		}
		evs = append(evs, oEvent{Type: "response.reasoning_text.done", Content: new(int), Text: &raw})
	}
	for _, e := range evs {
		if v.how.Whole {
			break
		}
		e.Output, e.ItemID = v.outputIndex(), v.item
		if err := v.event(e); err != nil {
			return err
		}
	}
	return v.endItem(item)
}

// nextPart ends a part of a summary.
func (v *responsesEncoder) nextPart() (bool, error) {
	err := v.endPart(v.text.String())
	v.text.Reset()
	v.part = false
	return true, err
}

// endPart ends a part of a summary, unless it is empty.
func (v *responsesEncoder) endPart(s string) error {
	if s == "" {
		return nil
	}
	part, at := oSummary{"summary_text", s}, len(v.parts)
	v.parts = append(v.parts, part)
	if v.how.Whole {
		return nil
	}
	for _, e := range []oEvent{
		{Type: "response.reasoning_summary_text.done", Summary: &at, Text: &s},
		{Type: "response.reasoning_summary_part.done", Summary: &at, Part: part},
	} {
		e.Output, e.ItemID = v.outputIndex(), v.item
		if err := v.event(e); err != nil {
			return err
		}
	}
	return nil
}

// addRedacted writes reasoning that only the model can read.
func (v *responsesEncoder) addRedacted(data string) error {
	item := oReasoning{Type: "reasoning", ID: v.o.id("rs_"), Summary: []oSummary{}}
	if err := v.event(oEvent{Type: "response.output_item.added", Output: v.outputIndex(), Item: item}); err != nil {
		return err
	}
	item.Encrypted = &data
	return v.endItem(item)
}

// addSearch is never called: calls refuses a search before the reply begins.
func (v *responsesEncoder) addSearch(*fixtures.Search) error { return nil }

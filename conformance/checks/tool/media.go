package tool

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Media is the check tool.media.
var Media = &conformance.Check{
	ID: "tool.media", Source: "the event contract (adapters/event): tool_result.media", Tiers: []conformance.Tier{conformance.TierWitness}, NeedsLines: true,
	Judges:   []string{"tool_result.media.kind", "tool_result.media.mime", "tool_result.media.size", "tool_result.media.sha256"},
	Needs:    []string{"tool_result.media"},
	Mend:     "Describe the decoded bytes of each image, sound and document of the result, in their order, or declare that you leave tool_result.media out.",
	Sentence: "media of a tool_result lists each image, sound and document of the runtime's result, with the type, size and hash of its bytes.",
	Judge:    judgeMedia,
}

// judgeMedia judges results whose media the runtime states.
func judgeMedia(t *conformance.Trial, f *conformance.Finding) {
	for e, d := range runindex.EventsOf[event.ToolResult](t.Run) {
		stated := runindex.StatedResult(t.Run, e, d.ToolUseID)
		if served := servedTool(t.Run, d.ToolUseID); served != nil {
			stated = &wire.ToolResult{Media: mediaOf(served)}
		}
		if stated == nil || e.SubagentID != "" {
			continue
		}
		f.Asserted(1)
		var got []wire.Media
		for _, m := range d.Media {
			if isImage := strings.HasPrefix(m.MIME, "image/"); isImage != (m.Kind == event.MediaImage) {
				f.At(e, "media of %s has the kind %s, but the type %s", d.ToolUseID, m.Kind, m.MIME)
			}
			got = append(got, wire.Media{MIME: m.MIME, Size: int(m.Size), SHA256: m.SHA256})
		}
		if !slices.Equal(got, stated.Media) {
			f.At(e, "the runtime gave %v as the result of %s, but media lists %v", stated.Media, d.ToolUseID, got)
		}
	}
}

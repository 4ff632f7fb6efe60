package policy

import (
	"context"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
)

func TestPresetJudge(t *testing.T) {
	g := gomega.NewWithT(t)
	calls := []adapters.Call{
		{Tool: "Read", Input: jsontext.Value(`{"file_path":"/w/a"}`), Dir: "/w"},
		{Tool: "WebSearch", Input: jsontext.Value(`{"query":"x"}`), Dir: "/w"},
		{Tool: "TodoWrite", Input: jsontext.Value(`{}`), Dir: "/w"},
		{Tool: "Edit", Input: jsontext.Value(`{"file_path":"/w/a","old_string":"x","new_string":"y"}`), Dir: "/w"},
		{Tool: "Edit", Input: jsontext.Value(`{"file_path":"/w/a","old_string":"","new_string":"y"}`), Dir: "/w"},
		{Tool: "Write", Input: jsontext.Value(`{"file_path":"/w/a","content":"y"}`), Dir: "/w"},
		{Tool: "Bash", Input: jsontext.Value(`{"command":"ls"}`), Dir: "/w"},
		{Tool: "mcp__a__b", Input: jsontext.Value(`{}`), Dir: "/w"},
	}
	for preset, want := range map[Preset]string{
		Full: "aaaaaaaa", NoBash: "aaaaaada", ReadOnly: "aaaddddd", SafeEdit: "aaaadddd", "rain": "dddddddd",
	} {
		judge, got := preset.Judge(), ""
		for _, c := range calls {
			got += string(judge.Decide(context.Background(), c).Effect[:1])
		}
		g.Expect(got).To(gomega.Equal(want), string(preset))
	}
}

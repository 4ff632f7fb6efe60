package dialect_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the goldens of testdata")

// goldens are cases whose messages people read in testdata.
var goldens = []string{
	"claude/2.1.329/text/plain",
	"claude/2.1.329/thinking/interleaved-with-text",
	"claude/2.1.329/model/cut-in-mid-text-then-retried",
	"claude/2.1.329/permission/allow",
	"claude/2.1.329/permission/deny-then-stop",
	"claude/2.1.329/question/one",
	"claude/2.1.329/stop/mid-tool",
	"claude/2.1.329/subagent/in-the-foreground",
	"claude/2.1.329/component/shown-changed-and-removed",
	"claude/2.1.329/mcp/gives-an-image",
	"claude/2.1.329/mcp/two-tools-run-for-long",
	"codex/0.169.0/web/opens-a-page",
	"codex/0.169.0/model/error-ends-the-turn",
	"codex/0.169.0/plan/steps-are-ticked-off",
	"codex/0.169.0/tool/text-tool-text-three-rounds",
	"codex/0.169.0/text/final-differs",
	"codex/0.169.0/file/write-and-edit",
}

func TestGoldens(t *testing.T) {
	for _, v := range vocabularies {
		dir := filepath.Join("testdata", strings.ReplaceAll(v.name, " ", "-"))
		if *update {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		list := v.goldens
		if list == nil {
			list = goldens
		}
		for _, id := range list {
			sessions := sessionsOf(t, id)
			if len(sessions) != 1 {
				t.Fatalf("%s has %d sessions", id, len(sessions))
			}
			var got []byte
			translate := v.translator()
			for _, events := range sessions {
				for _, e := range events {
					got = append(got, bytes.Join(slices.Concat(translate(e), [][]byte{nil}), []byte("\n"))...)
				}
			}
			file := filepath.Join(dir, strings.ReplaceAll(id, "/", "-")+".jsonl")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs; look at what `go test ./adapters/backend/dialect -run TestGoldens -update` changes", file)
			}
		}
	}
}

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
	"claude/newest/text/plain",
	"claude/newest/thinking/interleaved-with-text",
	"claude/newest/model/cut-in-mid-text-then-retried",
	"claude/newest/permission/allow",
	"claude/newest/permission/deny-then-stop",
	"claude/newest/question/one",
	"claude/newest/stop/mid-tool",
	"claude/newest/subagent/in-the-foreground",
	"claude/newest/component/shown-changed-and-removed",
	"claude/newest/mcp/gives-an-image",
	"claude/newest/mcp/two-tools-run-for-long",
	"codex/newest/web/opens-a-page",
	"codex/newest/model/error-ends-the-turn",
	"codex/newest/plan/steps-are-ticked-off",
	"codex/newest/tool/text-tool-text-three-rounds",
	"codex/newest/text/final-differs",
	"codex/newest/file/write-and-edit",
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

//go:build clients

package dialect_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/turnspec/turnspec/adapters/backend/acpagent"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures"
)

// readers are the libraries that read each dialect, and how a session becomes streams. Others have no library.
var readers = map[string]struct {
	libraries []string
	split     func(lines [][]byte) [][][]byte
}{
	"uistream":                {[]string{"ai 6", "ai 7"}, splitUI},
	"uistream with approvals": {[]string{"ai 7"}, splitUI},
	"agui":                    {[]string{"@ag-ui/client"}, oneStream},
	"acp":                     {[]string{"@agentclientprotocol/sdk"}, oneStream},
}

// read are the vocabularies, and the messages of an agent, which is no vocabulary of a front end.
var read = append(slices.Clone(vocabularies), vocabulary{name: "acp", translator: func() func(event.Event) [][]byte { return encoded(new(acpagent.Translator).Translate) }})

// oneStream returns the streams of a session: it is one.
func oneStream(lines [][]byte) [][][]byte { return [][][]byte{lines} }

// splitUI returns the streams of a session: one a turn.
func splitUI(lines [][]byte) (out [][][]byte) {
	for _, line := range lines {
		if bytes.HasPrefix(line, []byte(`{"type":"start"`)) {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], line)
	}
	return out
}

// stream is a line of the script's input.
type stream struct {
	Name   string   `json:"name"`
	Reader string   `json:"reader"`
	Lines  []string `json:"lines"`
}

// ids are what streams of several versions of a runtime differ in.
var ids = regexp.MustCompile(`[0-9a-f]{8,}|[0-9]`)

// TestReaders lets the libraries of front ends read each stream of each case, but only one of those that
// differ in ids and numbers only.
// `make test-dialects` installs them.
func TestReaders(t *testing.T) {
	folder, err := filepath.Abs(filepath.Join("..", "..", "..", ".tmp", "dialects"))
	if err != nil {
		t.Fatal(err)
	}
	cases, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	var in [2]bytes.Buffer // of as many processes
	streams := 0
	seen := map[string]bool{}
	out := [2]*json.Encoder{json.NewEncoder(&in[0]), json.NewEncoder(&in[1])}
	for _, id := range cases {
		for session, events := range sessionsOf(t, id) {
			for _, v := range read {
				translate := v.translator()
				var lines [][]byte
				for _, e := range events {
					lines = append(lines, translate(e)...)
				}
				of, ok := readers[v.name]
				if !ok {
					continue
				}
				for n, s := range of.split(lines) {
					for _, library := range of.libraries {
						one := stream{fmt.Sprintf("%s %s %d", id, session, n+1), library, texts(s)}
						if key := library + ids.ReplaceAllString(fmt.Sprint(one.Lines), ""); !seen[key] {
							seen[key] = true
							streams++
							if err := out[streams%len(out)].Encode(one); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
			}
		}
	}
	var b [2][]byte
	var failed [2]error
	var done sync.WaitGroup
	for i := range in {
		done.Go(func() {
			node := exec.CommandContext(t.Context(), "node", filepath.Join(folder, "read.mjs"))
			node.Stdin, node.Stderr, node.Dir = &in[i], os.Stderr, folder
			b[i], failed[i] = node.Output()
		})
	}
	done.Wait()
	if err := errors.Join(failed[:]...); err != nil {
		t.Fatalf("node: %v", err)
	}
	accepted := 0
	for line := range bytes.Lines(slices.Concat(b[0], b[1])) {
		var problem struct {
			Name, Reader, Problem string
			Read                  int
		}
		if err := json.Unmarshal(line, &problem); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		accepted += problem.Read
		if problem.Problem != "" {
			t.Errorf("%s: %s: %s", problem.Name, problem.Reader, problem.Problem)
		}
	}
	t.Logf("%d streams read", accepted)
	if accepted != streams || accepted == 0 {
		t.Errorf("%d streams were read, of %d", accepted, streams)
	}
}

func texts(lines [][]byte) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = string(line)
	}
	return out
}

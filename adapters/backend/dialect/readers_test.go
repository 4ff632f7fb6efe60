//go:build clients

package dialect_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
	accepted := 0
	for _, found := range readStreams(t, in[:]) {
		accepted += found.Read
		if found.Problem != "" {
			t.Errorf("%s: %s: %s", found.Name, found.Reader, found.Problem)
		}
	}
	t.Logf("%d streams read", accepted)
	if accepted != streams || accepted == 0 {
		t.Errorf("%d streams were read, of %d", accepted, streams)
	}
}

// found is a line of the script's output.
type found struct {
	Name, Reader, Problem string
	Read                  int
}

// readStreams lets a process read each of the inputs, and returns all lines of their outputs.
func readStreams(t *testing.T, in []bytes.Buffer) (out []found) {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join("..", "..", "..", ".tmp", "dialects"))
	if err != nil {
		t.Fatal(err)
	}
	outputs, failed := make([][]byte, len(in)), make([]error, len(in))
	var done sync.WaitGroup
	for i := range in {
		done.Go(func() {
			node := exec.CommandContext(t.Context(), "node", filepath.Join(folder, "read.mjs"))
			node.Stdin, node.Stderr, node.Dir = &in[i], os.Stderr, folder
			outputs[i], failed[i] = node.Output()
		})
	}
	done.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Fatalf("node: %v", err)
	}
	for line := range bytes.Lines(slices.Concat(outputs...)) {
		var f found
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		out = append(out, f)
	}
	return out
}

// TestReadersOfVectors compares what the libraries do with each stream of testdata/vectors with what its head
// says: they accept what breaks no rule and what advice is about, and reject the others, unless the
// head gives the reason for a difference.
func TestReadersOfVectors(t *testing.T) {
	in := make([]bytes.Buffer, 1)
	out := json.NewEncoder(&in[0])
	want := map[string]string{}
	streams := 0
	for file, of := range vectorFiles {
		for _, v := range vectorsOf(t, file) {
			streams++
			name := file + " " + v.name
			if err := out.Encode(stream{name, of.library, v.lines}); err != nil {
				t.Fatal(err)
			}
			want[name] = v.expected()
			if verdict, reason, _ := strings.Cut(v.client, ":"); v.client != "" {
				if verdict == want[name] || reason == "" {
					t.Errorf("%s: the client %s: a difference has a reason", name, verdict)
				}
				want[name] = verdict
			}
		}
	}
	got, says := map[string]string{}, map[string]string{}
	read := 0
	for _, f := range readStreams(t, in) {
		read += f.Read
		if f.Problem != "" {
			got[f.Name], says[f.Name], _ = strings.Cut(f.Problem, ":")
		}
	}
	if read != streams || read == 0 {
		t.Errorf("%d streams were read, of %d", read, streams)
	}
	for name, verdict := range want {
		if g := cmp.Or(got[name], "accepts"); g != verdict {
			t.Errorf("%s: the client %s, want %s: %s", name, g, verdict, says[name])
		}
	}
}

// expected returns what follows for a reader from what the checker reports.
func (v vector) expected() string {
	for rule := range strings.FieldsSeq(v.want) {
		if rule[0] != '+' {
			return "rejects"
		}
	}
	return "accepts"
}

func texts(lines [][]byte) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = string(line)
	}
	return out
}

package capture_test

import (
	"bytes"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/capture"
)

func TestLinesAreNotReencoded(t *testing.T) {
	g := NewWithT(t)
	rec, err := capture.Read(strings.NewReader(`{ "type" : "system", "n":1.50 }` + "\r\n\n" + `{"type":7}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rec.Format).To(Equal(capture.Plain))
	g.Expect(rec.Wire).To(HaveLen(2))
	g.Expect(string(rec.Wire[0].Bytes)).To(Equal(`{ "type" : "system", "n":1.50 }`))
	g.Expect(string(rec.Wire[1].Bytes)).To(Equal(`{"type":7}`))
}

// A line that is no JSON object is none of a runtime.
func TestJunkIsRejected(t *testing.T) {
	for _, junk := range []string{"# A page", "[1]", "{", "npm warn: no"} {
		_, err := capture.Read(strings.NewReader(`{"type":"system"}` + "\n\n" + junk + "\n"))
		g := NewWithT(t)
		g.Expect(err).To(BeAssignableToTypeOf(&capture.LineError{}), junk)
		g.Expect(err).To(MatchError(HavePrefix("line 3: it is no JSON object")))
	}
}

// Other tools write JSON with spaces.
func TestGuessReadsSpacedJSON(t *testing.T) {
	g := NewWithT(t)
	for line, want := range map[string]string{
		`{"type": "system", "session_id": "s", "claude_code_version": "2.1.197"}`: "claude 2.1.197",
		`{"type": "system", "session_id": "s"}`:                                   "claude ",
		`{"id": 1, "result": {"userAgent": "x/0.120.0 (Debian)"}}`:                "codex 0.120.0",
		`{"id": 1, "result": {"thread": {"cliVersion": "0.98.0"}}}`:               "codex 0.98.0",
	} {
		runtime, version := capture.Guess([]fixtures.WireLine{{Dir: fixtures.Out, Bytes: []byte(line)}})
		g.Expect(runtime + " " + version).To(Equal(want))
	}
}

// A tape holds what the client wrote as text, and what the runtime sent as JSON.
func TestTapeHoldsWrittenText(t *testing.T) {
	g := NewWithT(t)
	rec, err := capture.Read(strings.NewReader(`{"dir":"write","data":"{\"type\":\"control_request\"}\n{\"type\":\"user\"}\n"}
{"dir":"read","frame":{"type":"system"}}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rec.Format).To(Equal(capture.Tape))
	var got []string
	for _, l := range rec.Wire {
		got = append(got, string(l.Dir)+" "+string(l.Bytes))
	}
	g.Expect(got).To(Equal([]string{`in {"type":"control_request"}`, `in {"type":"user"}`, `out {"type":"system"}`}))
}

// Folders for temporary files on a Mac are replaced, whoever's they are.
func TestMacFoldersAreRedacted(t *testing.T) {
	g := NewWithT(t)
	line := `{"type":"system","subtype":"init","cwd":"/private/var/folders/zz/x8k_3w5n7dl/T/tmp.Ab1","a":"/var/folders/zz/x8k_3w5n7dl/T/y","b":"/private/tmp/z","c":"/Users/ann/w"}`
	wire := []fixtures.WireLine{{Process: 1, Dir: fixtures.Out, Bytes: []byte(line)}}
	b, err := capture.Make(capture.Head{Name: "imported/x", Runtime: "claude", Version: "1.0.0", Recorded: "today"}, capture.Elsewhere(wire), wire)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(b)).To(ContainSubstring(`"cwd":"<work>","a":"<tmp>/y","b":"<tmp>/z","c":"<home>/w"`))
}

// The redactor cannot know everything about another machine. If the lint finds
// something, no case is made.
func TestPrivateLinesAreRejected(t *testing.T) {
	g := NewWithT(t)
	line := func(s string) []fixtures.WireLine {
		return []fixtures.WireLine{{Process: 1, Dir: fixtures.Out, Bytes: []byte(s)}}
	}
	h := capture.Head{Name: "imported/x", Runtime: "codex", Version: "1.0.0", Recorded: "today"}
	wire := line(`{"a":"/home/ann/x and /Users/bob/y and /tmp/z","k":"gh` + `p_x7Kq2mZ9vB4nR8tY1wE6uI3oP5aS0dFgH2jK"}`)
	b, err := capture.Make(h, capture.Elsewhere(wire), wire)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(b)).To(ContainSubstring(`{"a":"<home>/x and <home-of-another>/y and <tmp>/z","k":"<secret:1>"}`))

	wire = line(`{"a":"/run/user/1000/x"}`)
	_, err = capture.Make(h, capture.Elsewhere(wire), wire)
	g.Expect(err).To(MatchError(ContainSubstring("must not be published")))
	g.Expect(err).To(MatchError(ContainSubstring("path: /run/user/1000")))
	_, err = capture.Make(h, capture.Elsewhere(nil), nil)
	g.Expect(err).To(HaveOccurred())
}

// A client that waits for replies, and for the end, can be played a recording of one that did
// not.
func TestClientThatDoesNotWait(t *testing.T) {
	g := NewWithT(t)
	rec, err := capture.Read(strings.NewReader(`{"t":"0s","p":1,"spawn":["codex","app-server"]}
{"t":"0.001s","p":1,"in":{"id":1,"method":"initialize","params":{}}}
{"t":"0.002s","p":1,"in":{"method":"initialized"}}
{"t":"0.003s","p":1,"in":{"id":2,"method":"thread/start","params":{}}}
{"t":"0.003s","p":1,"eof":true}
{"t":"0.004s","p":1,"out":{"id":1,"result":{}}}
{"t":"0.005s","p":1,"out":{"method":"configWarning","params":{}}}
{"t":"0.006s","p":1,"out":{"id":2,"result":{}}}
{"t":"0.007s","p":1,"exit":0}
`))
	g.Expect(err).NotTo(HaveOccurred())
	b, err := capture.Make(capture.Head{Name: "imported/x", Runtime: "codex", Version: "1.0.0", Recorded: "today"}, capture.Elsewhere(rec.Wire), rec.Wire)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(b)).To(HaveSuffix(`
{"t":"0s","p":1,"spawn":["codex","app-server"]}
{"t":"0.001s","p":1,"in":{"id":1,"method":"initialize","params":{}}}
{"t":"0.001s","p":1,"out":{"id":1,"result":{}}}
{"t":"0.002s","p":1,"in":{"method":"initialized"}}
{"t":"0.003s","p":1,"in":{"id":2,"method":"thread/start","params":{}}}
{"t":"0.005s","p":1,"out":{"method":"configWarning","params":{}}}
{"t":"0.006s","p":1,"out":{"id":2,"result":{}}}
{"t":"0.006s","p":1,"eof":true}
{"t":"0.007s","p":1,"exit":0}
`))
}

func TestLiveKeepsLinesInOrder(t *testing.T) {
	g := NewWithT(t)
	var out, errs bytes.Buffer
	wire, exit, err := capture.Live(t.Context(), []string{"/bin/sh", "-c", `read l; echo "got $l"; echo no >&2; printf end; exit 3`},
		capture.Stdio{In: strings.NewReader("one\n"), Out: &out, Err: &errs})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(exit.Code).To(Equal(3))
	g.Expect(out.String()).To(Equal("got one\nend"))
	g.Expect(errs.String()).To(Equal("no\n"))
	g.Expect(wire[0].Argv[0]).To(Equal("sh"))
	lines := map[fixtures.Dir][]string{}
	for _, l := range wire {
		lines[l.Dir] = append(lines[l.Dir], string(l.Bytes))
	}
	g.Expect(lines[fixtures.In]).To(Equal([]string{"one"}))
	g.Expect(lines[fixtures.Out]).To(Equal([]string{"got one", "end"}))
	g.Expect(lines[fixtures.Err]).To(Equal([]string{"no"}))
	g.Expect(wire[len(wire)-1].Code).To(Equal(3))
}

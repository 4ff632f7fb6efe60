package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
)

const sampleTurn = `{"kind":"piece","text":"It is "}
{"kind":"piece","text":"b."}
{"kind":"weather","sky":["blue"]}
{"kind":"over"}
`

// TestMap proposes a mapping from a file and from stdin, and writes over no file.
func TestMap(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	sample, to := filepath.Join(dir, "sample.jsonl"), filepath.Join(dir, "my.json")
	g.Expect(os.WriteFile(sample, []byte(sampleTurn), 0o644)).To(Succeed())
	run := func(args ...string) (stdout, stderr string, err error) {
		cmd := mapCmd()
		var out, errOut bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(&errOut)
		cmd.SetIn(strings.NewReader(sampleTurn))
		cmd.SetArgs(args)
		err = cmd.Execute()
		return out.String(), errOut.String(), err
	}
	stdout, _, err := run("--from", sample, "--to", to)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(stdout).To(ContainSubstring(`kind "weather" (1 message), such as {"kind":"weather","sky":["blue"]}`))
	g.Expect(stdout).To(ContainSubstring("turnspec smoke --runtime RUNTIME --dialect " + to + " -- CMD"))
	m, err := dialectNamed(to)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(m.Name).To(Equal("my"))
	g.Expect(m.Types()).To(ConsistOf(event.TypeDelta, event.TypeDone))

	_, _, err = run("--from", sample, "--to", to)
	g.Expect(err).To(MatchError(ContainSubstring("exists already")))
	stdout, stderr, err := run("--from", "-")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(mapping.Parse("stdout", []byte(stdout))).NotTo(BeNil())
	g.Expect(stderr).To(ContainSubstring("no rule reads these"))
	stdout, _, err = run("--from", sample, "--json")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(stdout).To(And(ContainSubstring(`"unplaced": [`), ContainSubstring(`"messages": 4`)))
	_, _, err = run()
	g.Expect(err).To(MatchError(ContainSubstring("--from is missing")))
}

// TestUnread checks what a failed smoke test says of the mapping.
func TestUnread(t *testing.T) {
	g := NewWithT(t)
	m, err := mapping.Parse("my.json", []byte(`{"name":"my","rules":[{"when":{"kind":"over"},"emit":"done"}]}`))
	g.Expect(err).NotTo(HaveOccurred())
	notice := func(raw string) conformance.Event {
		return conformance.Event{Event: event.Event{Data: event.Notice{Code: event.NoticeUnknownMessage, Raw: event.Raw(raw)}}}
	}
	r := &conformance.Run{Events: []conformance.Event{
		notice(`{"kind":"piece","text":"a"}`), notice(`{"kind":"piece","text":"b"}`), {Event: event.Event{Data: event.Done{}}},
	}}
	said := unreadOf(&jsonl.Subject{Dialect: m}, r)
	g.Expect(said).To(ContainSubstring(`kind "piece" (2 messages), such as {"kind":"piece","text":"a"}`))
	g.Expect(said).To(ContainSubstring(`"data": {"…": "text"}`))
	g.Expect(said).To(ContainSubstring("no message gave delta, which"))
	g.Expect(unreadOf(&jsonl.Subject{}, r)).To(BeEmpty(), "without a mapping the adapter reports the notices")
}

// TestDialectFlag checks which subjects take a mapping.
func TestDialectFlag(t *testing.T) {
	dir := t.TempDir()
	lines := filepath.Join(dir, "lines.json")
	if err := os.WriteFile(lines, []byte(`{"name":"n","stdin":"{message}","rules":[{"when":{"kind":"over"},"emit":"done"}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--dialect", "uistream"}, "--dialect is the vocabulary of your adapter's events: give its command after --"},
		{[]string{"--dialect", "uistream", "--subject", "acp:x"}, "--dialect is for a program or server"},
		{[]string{"--dialect", "usechat", "--runtime", "claude", "--", "x"}, "it has post, which is for a server"},
		{[]string{"--dialect", lines, "--runtime", "claude", "--subject", "http://127.0.0.1:0", "--", "x"}, "it has stdin or args, which are for a program over stdio"},
		{[]string{"--dialect", "none.json", "--runtime", "claude", "--", "x"}, "--dialect: open none.json"},
	} {
		cmd := runCmd()
		cmd.SetArgs(c.args)
		cmd.SetOut(new(bytes.Buffer))
		cmd.SetErr(new(bytes.Buffer))
		if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %s", c.args, err, c.want)
		}
	}
}

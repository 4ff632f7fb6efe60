package coverage_test

import (
	"testing"
	"testing/fstest"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/coverage"
)

const text = `notification error ErrorNotification
notification turn/completed TurnCompleted
request turn/start
request turn/stop
server-request item/ask Ask
Ask {kind: "command" | "file"}
ErrorNotification {message: string}
TurnCompleted {id: string, status: "done" | "failed"}
`

func TestOf(t *testing.T) {
	g := NewWithT(t)
	c := &fixtures.Case{
		Scenario: "text/plain", Runtime: "codex", Version: "1.0.0", Recorded: "2026-11-21 by hand",
		Wire: []fixtures.WireLine{
			{Process: 1, Dir: fixtures.Spawn, Argv: []string{"codex"}},
			{Process: 1, Dir: fixtures.In, Bytes: []byte(`{"id":1,"method":"turn/start"}`)},
			{Process: 1, Dir: fixtures.Out, Bytes: []byte(`{"id":0,"method":"item/ask","params":{"kind":"file"}}`)},
			{Process: 1, Dir: fixtures.Out, Bytes: []byte(`{"method":"turn/completed","params":{"id":"1","status":"done","took":3}}`)},
			{Process: 1, Dir: fixtures.Out, Bytes: []byte(`{"method":"turn/unheard","params":{}}`)},
			{Process: 1, Dir: fixtures.Exit},
		},
	}
	b, err := c.Format()
	g.Expect(err).NotTo(HaveOccurred())
	scenario := func(head string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("It talks.\n-- scenario --\ntopic: text\n" + head + "-- client --\nsend m1: x\n-- model --\n[{\"text\":[\"y\"]}]\n")}
	}
	corpus := fixtures.Corpus{FS: fstest.MapFS{
		"codex/1.0.0/text/plain.txtar": {Data: b}, "codex/1.0.0/schema.txt": {Data: []byte(text)},
		"scenarios/text/plain.txtar": scenario(""), "scenarios/text/other.txtar": scenario(""),
		"scenarios/text/far.txtar": scenario("not on codex: it is too far\n"), "scenarios/text/near.txtar": scenario("max cost: 1\n"),
	}}
	rep, err := coverage.Of(corpus, "codex", "1.0.0")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rep.Cases).To(Equal(1))
	g.Expect(rep.Scenarios).To(Equal(map[coverage.State][]coverage.Scenario{
		coverage.Performed:   {{ID: "text/plain"}},
		coverage.Cannot:      {{ID: "text/far", Reason: "it is too far"}, {ID: "text/near", Reason: "it has no budget"}},
		coverage.NotRecorded: {{ID: "text/other"}},
	}))
	for name, want := range map[string]coverage.Part{
		coverage.Messages: {Seen: 2, All: 3, Never: []string{"notification error"}},
		coverage.Requests: {Seen: 1, All: 2, Never: []string{"request turn/stop"}},
		coverage.Fields:   {Seen: 3, All: 4, Never: []string{"ErrorNotification.message"}},
		coverage.Values:   {Seen: 2, All: 4, Never: []string{`Ask.kind="command"`, `TurnCompleted.status="failed"`}},
	} {
		got, err := rep.Part(name)
		g.Expect(err).NotTo(HaveOccurred())
		want.Name = name
		g.Expect(got).To(Equal(want))
	}
	g.Expect(rep.Undeclared).To(Equal(map[string]int{"notification turn/unheard": 1, "TurnCompleted.took": 1}))
}

func TestOfAVersionWithoutASchema(t *testing.T) {
	g := NewWithT(t)
	rep, err := coverage.Of(fixtures.Corpus{FS: fstest.MapFS{}}, "pi", "1.0.0")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(coverage.Table([]*coverage.Report{rep})[1]).To(Equal([]string{"pi", "1.0.0", "0", "0", "0", "-", "-", "-", "-", "-"}))
	_, err = rep.Part(coverage.Items)
	g.Expect(err).To(MatchError(ContainSubstring("no schema of pi 1.0.0")))
}

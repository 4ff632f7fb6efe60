package report_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
)

func written(t *testing.T, write report.Writer, d *report.Document) string {
	t.Helper()
	var b bytes.Buffer
	NewWithT(t).Expect(write(&b, d)).To(Succeed())
	return b.String()
}

// known is the example with a known failure and a stale one.
func known() *report.Document {
	rep := sample()
	k := conformance.KnownFailure{Check: "text.once", Case: "text", Reason: "twice | until v2", Link: "https://example.org/1", At: "known.txt:3"}
	rep.Results[0].KnownFailure = &k
	rep.KnownFailures = []conformance.KnownFailureUse{{KnownFailure: k, Failed: 1, Judged: 2},
		{KnownFailure: conformance.KnownFailure{Check: "turn.stop", Case: "stop/*", Reason: "late", At: "known.txt:7"}, Judged: 1}}
	return report.New(rep, report.About{Turnspec: "v1", Corpus: "sha256:0", Selection: report.Selection{Subjects: []string{"mine"}, Places: 4}})
}

// TestJSONRoundTrip checks too that each verdict has a line of its own.
func TestJSONRoundTrip(t *testing.T) {
	g := NewWithT(t)
	text := written(t, report.JSON, example())
	g.Expect(text).To(HavePrefix("{\n  \"format\": 2,\n"))
	g.Expect(text).To(ContainSubstring(`    {"check":"turn.stop","case":"codex/1/stop/mid-text","subject":"mine","tier":"witness","severity":"SHOULD","verdict":"unrecorded","assertions":1,"reason":"process 1: read (weather)"}`))
	g.Expect(text).To(ContainSubstring("\n  \"failed\": true,\n"))
	for _, d := range []*report.Document{example(), known(), report.New(&conformance.Report{}, report.About{})} {
		text := written(t, report.JSON, d)
		back, err := report.Read("x.json", []byte(text))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(written(t, report.JSON, back)).To(Equal(text))
	}
}

func TestReadRejectsOtherFiles(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                          "x.json: ",
		`{}`:                         "x.json: not a report",
		`{"format":99}`:              "x.json: format 99, but this program reads format 2",
		`{"format":2,"weather":"x"}`: "x.json: ",
	} {
		if _, err := report.Read("x.json", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	g := NewWithT(t)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.Schema))
	g.Expect(err).NotTo(HaveOccurred())
	c := jsonschema.NewCompiler()
	g.Expect(c.AddResource("report.json", doc)).To(Succeed())
	s, err := c.Compile("report.json")
	g.Expect(err).NotTo(HaveOccurred())
	return s
}

// TestSchemaAcceptsOnlyReports checks valid and invalid documents.
func TestSchemaAcceptsOnlyReports(t *testing.T) {
	g := NewWithT(t)
	s := schema(t)
	valid := func(text string) error {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		g.Expect(err).NotTo(HaveOccurred())
		return s.Validate(doc)
	}
	for _, d := range []*report.Document{example(), known(), faulty(t), report.New(flaky(true), report.About{}), report.New(&conformance.Report{Shard: conformance.Shard{Index: 1, Total: 2}}, report.About{})} {
		g.Expect(valid(written(t, report.JSON, d))).To(Succeed())
	}
	text := written(t, report.JSON, known())
	for _, change := range [][2]string{
		{`"format": 2`, `"format": 1`},
		{`"verdict":"pass"`, `"verdict":"good"`},
		{`"severity":"SHOULD"`, `"severity":"MAY"`},
		{`"assertions":3`, `"assertions":-3`},
		{`"at_ns":`, `"when":`},
		{`"dir":"out"`, `"dir":"up"`},
		{`"stale":"it`, `"old":"it`},
	} {
		g.Expect(text).To(ContainSubstring(change[0]))
		g.Expect(valid(strings.Replace(text, change[0], change[1], 1))).NotTo(Succeed(), change[1])
	}
}

// TestSchemaListsAllMembers compares the schema with the members of the types.
func TestSchemaListsAllMembers(t *testing.T) {
	g := NewWithT(t)
	type object struct {
		Properties map[string]any `json:"properties"`
	}
	var s struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	g.Expect(json.Unmarshal(report.Schema, &s)).To(Succeed())
	members := report.Members()
	for name, want := range members {
		o := s.Defs[name]
		if name == "document" {
			o = s.object
		}
		var got []string
		for m := range o.Properties {
			got = append(got, m)
		}
		g.Expect(got).To(ConsistOf(want), name)
	}
	g.Expect(s.Defs).To(HaveLen(len(members) - 1))
}

// TestCaseLine checks that a line holds what fails on a case, with the command that runs it
// again, and nothing that is not applicable.
func TestCaseLine(t *testing.T) {
	g := NewWithT(t)
	results := slices.Clone(sample().Results[:1])
	results = append(results, conformance.Result{Check: stop, Case: results[0].Case, Subject: results[0].Subject, Tier: conformance.TierWitness, Verdict: conformance.NotApplicable})
	var out bytes.Buffer
	g.Expect(report.CaseLine(&out, results, report.About{})).To(Succeed())
	g.Expect(strings.Count(out.String(), "\n")).To(Equal(1))
	var line struct {
		Case    string         `json:"case"`
		Results []report.Entry `json:"results"`
	}
	g.Expect(json.Unmarshal(out.Bytes(), &line)).To(Succeed())
	g.Expect(line.Case).To(Equal(results[0].Case))
	g.Expect(line.Results).To(HaveLen(1))
	g.Expect(line.Results[0].Verdict).To(Equal("fail"))
	g.Expect(line.Results[0].Rerun).To(Equal("turnspec run --case codex/1/text/plain --check text.once"))
}

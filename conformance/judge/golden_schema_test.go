package judge_test

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// TestGoldensMatchThePublishedSchema checks that the schema and the strict decoder
// accept each event of each golden.
func TestGoldensMatchThePublishedSchema(t *testing.T) {
	g := NewWithT(t)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(event.Schema))
	g.Expect(err).NotTo(HaveOccurred())
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	g.Expect(compiler.AddResource("event.json", doc)).To(Succeed())
	schema, err := compiler.Compile("event.json")
	g.Expect(err).NotTo(HaveOccurred())
	ids, err := fixtures.Embedded().CaseIDs()
	g.Expect(err).NotTo(HaveOccurred())
	looked := 0
	for _, id := range racesample.Sample(ids, 50) { // no other test runs at the same time
		events, err := fixtures.Embedded().GoldenEvents(id)
		g.Expect(err).NotTo(HaveOccurred())
		for _, line := range events {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
			g.Expect(err).NotTo(HaveOccurred(), "%s: %s", id, line)
			g.Expect(schema.Validate(v)).To(Succeed(), "%s: %s", id, line)
			_, err = event.Decode(line)
			g.Expect(err).NotTo(HaveOccurred(), "%s: %s", id, line)
			looked++
		}
	}
	g.Expect(looked).To(BeNumerically(">", 500))
}

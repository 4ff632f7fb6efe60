package golden_test

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// TestGoldensMatchThePublishedSchema checks that the strict decoder accepts each event of
// each golden, and that the schema accepts one of each shape: it takes ten times longer.
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
	decoded, shapes := 0, map[string]bool{}
	for _, id := range racesample.Sample(ids, 50) { // no other test runs at the same time
		events, err := fixtures.Embedded().GoldenEvents(id)
		g.Expect(err).NotTo(HaveOccurred())
		for _, line := range events {
			if _, err := event.Decode(line); err != nil {
				t.Fatalf("%s: %s: %v", id, line, err)
			}
			decoded++
			shape := string(shapeOf(line))
			if shapes[shape] {
				continue
			}
			shapes[shape] = true
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
			g.Expect(err).NotTo(HaveOccurred(), "%s: %s", id, line)
			g.Expect(schema.Validate(v)).To(Succeed(), "%s: %s", id, line)
		}
	}
	g.Expect(decoded).To(BeNumerically(">", 500))
	g.Expect(len(shapes)).To(BeNumerically(">", 100))
}

// shapeOf returns a line of JSON without what no rule of the schema depends on: the contents
// of strings that are no word, and which number it is, if it is not 0.
func shapeOf(line []byte) []byte {
	var out []byte
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			from := i + 1
			for i++; line[i] != '"'; i++ {
				if line[i] == '\\' {
					i++
				}
			}
			text := line[from:i]
			switch {
			case len(text) <= longestWord && len(bytes.Trim(text, "abcdefghijklmnopqrstuvwxyz_.-")) == 0:
			case text[0] == '0': // no time begins with it
				text = []byte("0")
			default:
				text = []byte("S")
			}
			out = append(append(append(out, '"'), text...), '"')
		case c >= '0' && c <= '9':
			from := i
			for line[i+1] >= '0' && line[i+1] <= '9' {
				i++
			}
			number := line[from : i+1]
			if len(number) < longestNumber && len(bytes.Trim(number, "0")) > 0 {
				number = []byte("1")
			}
			out = append(out, number...)
		default:
			out = append(out, c)
		}
	}
	return out
}

// No value that the schema lists is longer than longestWord, and no limit of a number has fewer
// digits than longestNumber, but 0.
const (
	longestWord   = 32
	longestNumber = 15
)

// TestShapeOf tests what makes events of one shape.
func TestShapeOf(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"delta","text":"Hi \"you\"","n":12}`:    `{"type":"delta","text":"S","n":1}`,
		`{"seq":105,"ts":"01-02","x":-3.5,"y":0,"z":""}`: `{"seq":1,"ts":"0","x":-1.1,"y":0,"z":""}`,
	} {
		NewWithT(t).Expect(string(shapeOf([]byte(line)))).To(Equal(want))
	}
}

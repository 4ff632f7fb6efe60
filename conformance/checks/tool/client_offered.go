package tool

import (
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/runindex"
)

// ClientOffered is the check tool.client-offered.
var ClientOffered = &conformance.Check{
	ID: "tool.client-offered", Source: "wire/codex: dynamicTools; wire/claude: mcp_message", Tiers: []conformance.Tier{conformance.TierWitness},
	Sentence:      "A tool of the client is offered to the runtime with its name, its description and its schema.",
	JudgesWritten: true,
	Judge:         judgeOffered,
}

// judgeOffered looks through all that the subject wrote: each runtime has a
// message of its own that offers tools, and all describe a tool in these words.
func judgeOffered(t *conformance.Trial, f *conformance.Finding) {
	for _, tool := range t.Scenario.Tools {
		if ofComponents(t.Scenario, tool.Name) {
			continue // described as the subject likes
		}
		f.Asserted(1)
		f.Sent = true
		want := offer{tool.Name, tool.Description, runindex.Canonical(tool.Schema)}
		var near []offer
		for _, w := range t.ClientActions {
			near = append(near, offers(w.Bytes)...)
		}
		if tool.Schema == nil { // the scenario says nothing of the input: nor must the offer
			for i := range near {
				near[i].schema = want.schema
			}
		}
		switch i := slices.IndexFunc(near, func(o offer) bool { return o.name == want.name }); {
		case slices.Contains(near, want):
		case i < 0:
			f.Failf("the subject wrote no offer of the client's tool %s", tool.Name)
		default:
			f.Failf("the tool %s of the client's was offered as %q with the schema %s; it is %q with %s",
				tool.Name, near[i].description, near[i].schema, want.description, want.schema)
		}
	}
}

// offer is a tool as it is told to a runtime.
type offer struct{ name, description, schema string }

// offers are all descriptions of tools anywhere in a line.
func offers(line []byte) []offer {
	var v any
	if !runindex.Decode(line, &v) {
		return nil
	}
	var out []offer
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			name, _ := v["name"].(string)
			schema, described := v["inputSchema"]
			if described {
				description, _ := v["description"].(string)
				b, err := json.Marshal(schema, json.Deterministic(true))
				if err == nil {
					out = append(out, offer{name, description, runindex.Canonical(b)})
				}
			}
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(v)
	return out
}

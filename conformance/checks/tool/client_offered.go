package tool

import (
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// ClientOffered is the check tool.client-offered.
var ClientOffered = &conformance.Check{
	ID: "tool.client-offered", Source: "wire/codex: dynamicTools; wire/claude: mcp_message", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:          "Register the client's tools with the runtime at open, with name, description and schema unchanged.",
	Sentence:      "A tool of the client is offered to the runtime with its name, its description and its schema.",
	JudgesWritten: true,
	Judge:         judgeOffered,
}

// judgeOffered searches every line that the subject wrote: each runtime has another
// message that offers tools, but all describe a tool with the same members.
func judgeOffered(t *conformance.Trial, f *conformance.Finding) {
	for _, tool := range t.Scenario.Tools {
		if ofComponents(t.Scenario, tool.Name) {
			continue // the subject chooses the description
		}
		f.Asserted(1)
		f.Sent = true
		want := offer{tool.Name, tool.Description, runindex.Canonical(tool.Schema), tool.ReadOnly && recordedReadOnly(t, tool.Name)}
		var near []offer
		for _, w := range t.ClientActions {
			near = append(near, offers(w.Bytes)...)
		}
		if !want.readOnly && tool.ReadOnly { // this runtime has no place for it
			for i := range near {
				near[i].readOnly = false
			}
		}
		if tool.Schema == nil { // the scenario has no schema, so any is allowed
			for i := range near {
				near[i].schema = want.schema
			}
		}
		switch i := slices.IndexFunc(near, func(o offer) bool { return o.name == want.name }); {
		case slices.Contains(near, want):
		case i < 0:
			f.Failf("the subject wrote no offer of the client's tool %s", tool.Name)
		case near[i].readOnly != want.readOnly:
			f.Failf("the client's tool %s was offered with readOnlyHint %v, want %v", tool.Name, near[i].readOnly, want.readOnly)
		default:
			f.Failf("the client's tool %s was offered as %q with the schema %s, want %q with %s",
				tool.Name, near[i].description, near[i].schema, want.description, want.schema)
		}
	}
}

// recordedReadOnly reports whether the recorded client offered a tool with a read-only hint.
func recordedReadOnly(t *conformance.Trial, name string) bool {
	return slices.ContainsFunc(t.Case.Wire, func(w fixtures.WireLine) bool {
		return w.Dir == fixtures.In && slices.ContainsFunc(offers(w.Bytes), func(o offer) bool { return o.name == name && o.readOnly })
	})
}

// offer is the description of a tool for a runtime.
type offer struct {
	name, description, schema string
	readOnly                  bool
}

// offers returns all descriptions of tools, anywhere in a line.
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
			if !described {
				schema, described = v["parameters"]
			}
			if described {
				description, _ := v["description"].(string)
				b, err := json.Marshal(schema, json.Deterministic(true))
				if err == nil {
					hints, _ := v["annotations"].(map[string]any)
					readOnly, _ := hints["readOnlyHint"].(bool)
					out = append(out, offer{name, description, runindex.Canonical(b), readOnly})
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

package event

import _ "embed"

// Schema is the JSON Schema (draft 2020-12) of one event, schema.json of this
// module. It is generated from the Go types, like strict decoding, and accepts the
// same events, except where a schema cannot express the rule (1.0 for a whole
// number, two different sub-agents in one event).
//
//go:embed schema.json
var Schema []byte

//go:generate go test -run TestGenerated -update .

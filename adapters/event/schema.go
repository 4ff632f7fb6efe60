package event

import _ "embed"

// Schema is the JSON Schema (draft 2020-12) of one event, schema.json of this
// module. It is made from the Go types, like strict decoding: what Decode
// accepts it accepts, and the other way round but for what a schema cannot say
// (1.0 for a whole number, two different sub-agents in one event).
//
//go:embed schema.json
var Schema []byte

//go:generate go test -run TestSchemaFile -update .

package component

import (
	"errors"
	"fmt"
	"net/url"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/turnspec/turnspec/adapters/event"
)

// compileSchema compiles a schema without loading other documents. It returns nil for
// an empty one.
func compileSchema(schema event.Raw) (*jsonschema.Resolved, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	meta, err := metaSchema()
	if err != nil {
		return nil, err
	}
	if err := validateJSON(meta, schema); err != nil {
		return nil, fmt.Errorf("it is not a JSON schema: %w", err)
	}
	return resolveSchema(schema)
}

func resolveSchema(schema event.Raw) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := s.UnmarshalJSON(schema); err != nil {
		return nil, err
	}
	return s.Resolve(&jsonschema.ResolveOptions{Loader: func(u *url.URL) (*jsonschema.Schema, error) {
		return nil, fmt.Errorf("%s: a schema must not refer to other documents", u)
	}})
}

// metaSchema describes what the validator takes and would not understand: another
// draft, and a type that does not exist, which no value has.
var metaSchema = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	return resolveSchema(event.Raw(`{
		"type": ["object", "boolean"],
		"properties": {
			"$schema": {"pattern": "^https?://json-schema\\.org/(draft-07|draft/2020-12)/schema#?$"},
			"type": {"$ref": "#/$defs/type", "items": {"$ref": "#/$defs/type"}},
			"$defs": {"$ref": "#/$defs/schemas"}, "definitions": {"$ref": "#/$defs/schemas"},
			"properties": {"$ref": "#/$defs/schemas"}, "patternProperties": {"$ref": "#/$defs/schemas"},
			"dependentSchemas": {"$ref": "#/$defs/schemas"},
			"propertyNames": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}, "unevaluatedProperties": {"$ref": "#"},
			"items": {"$ref": "#/$defs/one-or-more"}, "prefixItems": {"$ref": "#/$defs/one-or-more"},
			"additionalItems": {"$ref": "#"}, "unevaluatedItems": {"$ref": "#"}, "contains": {"$ref": "#"},
			"allOf": {"$ref": "#/$defs/one-or-more"}, "anyOf": {"$ref": "#/$defs/one-or-more"}, "oneOf": {"$ref": "#/$defs/one-or-more"},
			"not": {"$ref": "#"}, "if": {"$ref": "#"}, "then": {"$ref": "#"}, "else": {"$ref": "#"}
		},
		"$defs": {
			"type": {"type": ["string", "array"], "pattern": "^(null|boolean|object|array|number|string|integer)$"},
			"schemas": {"type": "object", "additionalProperties": {"$ref": "#"}},
			"one-or-more": {"if": {"type": "array"}, "then": {"items": {"$ref": "#"}}, "else": {"$ref": "#"}}
		}
	}`))
})

// validateJSON returns one of the ways in which a value does not match a schema, not
// always the same one. A nil schema matches each value.
func validateJSON(schema *jsonschema.Resolved, v event.Raw) error {
	if !v.IsValid() {
		return errors.New("it is not valid JSON")
	}
	if schema == nil {
		return nil
	}
	var doc any
	if err := json.Unmarshal(v, &doc); err != nil {
		return err
	}
	return schema.Validate(doc)
}

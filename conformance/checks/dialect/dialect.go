// Package dialect holds the checks of streams in the vocabulary of a front end: they
// report what the strict reader of the vocabulary (adapters/backend/dialect) found. It is
// not part of the stable interface. The broken writers that prove them are in the tests
// of package sse.
package dialect

import "github.com/turnspec/turnspec/conformance"

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		Form,
		Order,
		IDs,
		Once,
		Open,
		Advice,
	}
}

package main

import (
	"reflect"
	"testing"

	"github.com/turnspec/turnspec/fixtures/wire"
)

// maxKnobs is how many fields wire.Runtime and wire.Process may have. What one wire shows,
// hides or adds is a statement of its lines, which checks ask of the lines.
const maxKnobs = 30

func TestFewKnobs(t *testing.T) {
	if n := reflect.TypeFor[wire.Runtime]().NumField() + reflect.TypeFor[wire.Process]().NumField(); n > maxKnobs {
		t.Errorf("wire.Runtime and wire.Process have %d fields, at most %d may be: let the line state what differs", n, maxKnobs)
	}
}

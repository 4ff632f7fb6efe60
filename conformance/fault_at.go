package conformance

import (
	"fmt"
	"strconv"
	"strings"
)

// FaultAt is a fault, and where it is tried.
type FaultAt struct {
	Name string
	Line int // of the case's file; 0: at the places that Config.Places and Seed pick
}

// ParseFaultAt reads NAME or NAME@LINE.
func ParseFaultAt(s string) (FaultAt, error) {
	name, at, has := strings.Cut(s, "@")
	if !has {
		return FaultAt{Name: name}, nil
	}
	line, err := strconv.Atoi(at)
	if err != nil || line < 1 {
		return FaultAt{}, fmt.Errorf("fault %q: want NAME or NAME@LINE, with a line of the case's file", s)
	}
	return FaultAt{Name: name, Line: line}, nil
}

// String returns the form that ParseFaultAt reads.
func (f FaultAt) String() string {
	if f.Line == 0 {
		return f.Name
	}
	return fmt.Sprintf("%s@%d", f.Name, f.Line)
}

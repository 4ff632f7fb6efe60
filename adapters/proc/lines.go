package proc

import "github.com/turnspec/turnspec/adapters/lines"

// The former names of package lines. New code imports that package.
type Lines = lines.Reader

// MaxLine is lines.MaxLength.
const MaxLine = lines.MaxLength

// NewLines and ErrLongLine are those of package lines.
var (
	NewLines    = lines.NewReader
	ErrLongLine = lines.ErrTooLong
)

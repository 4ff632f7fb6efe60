package ledger

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
)

// WrittenFile returns the change of a file that was written as a whole. Of a file that was there before,
// the lines that went are not known.
func WrittenFile(path, content string, existed bool) event.FileChange {
	if !existed {
		return event.FileChange{Path: path, Kind: event.ChangeAdd, Diff: content}
	}
	var added strings.Builder
	for l := range strings.Lines(content) {
		added.WriteString("+" + strings.TrimSuffix(l, "\n") + "\n")
	}
	return event.FileChange{Path: path, Kind: event.ChangeUpdate, Diff: added.String()}
}

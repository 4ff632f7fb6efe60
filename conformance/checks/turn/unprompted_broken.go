package turn

import (
	"bytes"
	"io"
	"regexp"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var beginsByItself = broken.Adapter{
	Name: "begins-by-itself", Sentence: "reports every turn as begun by the runtime",
	Proves:   "turn.unprompted",
	Mutation: broken.Change(func(d *event.TurnStart) { d.Cause, d.MessageIDs = event.CauseTask, []string{} }),
}

var endsAtAnyEnd = broken.Adapter{
	Name: "ends-at-any-end", Sentence: "takes the end of any turn for the end of the running one",
	Runtime: "codex", Why: "the end of a turn of Claude Code does not name it",
	Proves: "turn.unprompted",
	Mutation: broken.Mutation{Output: func(p proc.Process) (io.Reader, io.Reader) {
		running := map[string][]byte{} // by thread
		return broken.ReaderFunc(func(b []byte) (int, error) {
			n, err := p.Stdout().Read(b)
			if m := turnStartLine.FindSubmatch(b[:n]); m != nil {
				running[string(m[1])] = bytes.Clone(m[2])
			}
			if m := turnEndLine.FindSubmatchIndex(b[:n]); m != nil { // ids are of one length
				copy(b[m[4]:m[5]], running[string(b[m[2]:m[3]])])
			}
			return n, err
		}), p.Stderr()
	}},
}

// These match the ids of thread and turn in a line.
var (
	turnStartLine = regexp.MustCompile(`"turn/started","params":\{"threadId":"([^"]*)","turn":\{"id":"([^"]*)"`)
	turnEndLine   = regexp.MustCompile(`"turn/completed","params":\{"threadId":"([^"]*)","turn":\{"id":"([^"]*)"`)
)

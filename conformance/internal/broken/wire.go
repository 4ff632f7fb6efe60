package broken

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
)

// pipes are broken in what they make of bytes, or of their absence.
func pipes() []Adapter {
	return []Adapter{
		{
			Name: "forgets-the-rest-at-the-exit", Sentence: "reads no more when the process has ended",
			Fails: []string{"wire.same-chunk"},
			mutation: mutation{process: func(p proc.Process) (io.Reader, io.Reader) {
				gone := make(chan struct{})
				go func() { p.Wait(); close(gone) }()
				return readerFunc(func(b []byte) (int, error) {
					select {
					case <-gone:
						return 0, io.EOF
					default:
						return p.Stdout().Read(b)
					}
				}), p.Stderr()
			}},
		},
		{
			Name: "reads-short-lines", Sentence: "takes 64 KiB for the longest line",
			Fails: []string{"wire.long-line"},
			mutation: mutation{read: func(chunk []byte) []byte {
				if len(chunk) == 64<<10 && !bytes.Contains(chunk, []byte("\n")) {
					return []byte("\n")
				}
				return chunk
			}},
		},
		{
			Name: "dies-of-garbage", Sentence: "ends the turn at a line that is no message",
			Fails: []string{"turn.crash-ends", "wire.garbage"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Notice); ok && d.Code == event.NoticeGarbage {
					e.Data = event.Error{Code: event.ErrorProtocol, Message: "not JSON"}
				}
				out(e)
			}),
		},
		{
			Name: "leaves-stderr-unread", Sentence: "does not read stderr",
			Fails: []string{"process.start-failure", "wire.stderr"},
			mutation: mutation{process: func(p proc.Process) (io.Reader, io.Reader) {
				return p.Stdout(), strings.NewReader("")
			}},
		},
		{
			Name: "breaks-characters", Sentence: "makes text of each read by itself",
			Fails: []string{"text.unicode", "wire.split"},
			mutation: mutation{read: func(chunk []byte) []byte {
				return bytes.ToValidUTF8(chunk, []byte("?"))
			}},
		},
		{
			Name: "ends-at-any-end", Sentence: "takes the end of any turn for the end of the one that runs",
			Runtime: "codex", Why: "the end of a turn of Claude Code does not name it",
			Fails: []string{"turn.not-before-end", "turn.nothing-after-terminal", "turn.unprompted", "wire.split", "wire.unknown"},
			mutation: mutation{process: func(p proc.Process) (io.Reader, io.Reader) {
				running := map[string][]byte{} // by thread
				return readerFunc(func(b []byte) (int, error) {
					n, err := p.Stdout().Read(b)
					if m := turnBegins.FindSubmatch(b[:n]); m != nil {
						running[string(m[1])] = bytes.Clone(m[2])
					}
					if m := turnEnds.FindSubmatchIndex(b[:n]); m != nil { // ids are of one length
						copy(b[m[4]:m[5]], running[string(b[m[2]:m[3]])])
					}
					return n, err
				}), p.Stderr()
			}},
		},
		{
			Name: "waits-for-ever", Sentence: "waits for a runtime that is silent for good",
			Fails: []string{"turn.refused", "turn.stall-ends"},
			Only:  map[string]string{"turn.refused": "claude"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Error); !ok || d.Code != event.ErrorTimeout {
					out(e)
				}
			}),
		},
	}
}

// The thread and the turn that a line tells of.
var (
	turnBegins = regexp.MustCompile(`"turn/started","params":\{"threadId":"([^"]*)","turn":\{"id":"([^"]*)"`)
	turnEnds   = regexp.MustCompile(`"turn/completed","params":\{"threadId":"([^"]*)","turn":\{"id":"([^"]*)"`)
)

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

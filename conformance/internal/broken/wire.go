package broken

import (
	"bytes"
	"io"
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

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

package wire

import (
	"io"
	"runtime"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var forgetsTheRestAtTheExit = broken.Adapter{
	Name: "forgets-the-rest-at-the-exit", Sentence: "stops reading when the process has exited",
	Proves: "wire.same-chunk",
	Mutation: broken.Mutation{Output: func(p proc.Process) (io.Reader, io.Reader) {
		gone := make(chan struct{})
		go func() { p.Wait(); close(gone) }()
		return broken.ReaderFunc(func(b []byte) (int, error) {
			// What is written at once is followed by the exit: let the goroutine run that waits for it.
			for range 100 {
				runtime.Gosched()
			}
			select {
			case <-gone:
				return 0, io.EOF
			default:
				return p.Stdout().Read(b)
			}
		}), p.Stderr()
	}},
}

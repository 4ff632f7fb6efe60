package text

import (
	"bufio"
	"bytes"
	"io"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var breaksCharacters = broken.Adapter{
	Name: "breaks-characters", Sentence: "decodes each read by itself",
	Proves: "text.unicode",
	Mutation: broken.Mutation{Read: func(chunk []byte) []byte {
		return bytes.ToValidUTF8(chunk, []byte("?"))
	}},
}

var decodesInParts = broken.Adapter{
	Name: "decodes-in-parts", Sentence: "decodes a line that is longer than its buffer in parts of 64 KiB",
	Proves: "text.result",
	Mutation: broken.Mutation{Output: func(p proc.Process) (stdout, stderr io.Reader) {
		r, rest := bufio.NewReaderSize(p.Stdout(), 64<<10), []byte(nil)
		return broken.ReaderFunc(func(b []byte) (int, error) {
			if len(rest) == 0 {
				part, err := r.ReadSlice('\n')
				if len(part) == 0 {
					return 0, err
				}
				rest = bytes.ToValidUTF8(part, []byte("?"))
			}
			n := copy(b, rest)
			rest = rest[n:]
			return n, nil
		}), nil
	}},
}

package relay

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// kind says what a frame carries.
type kind byte

// From the program: what it is, bytes of stdin, its end, a signal. To it: bytes
// of stdout and stderr, and how it ends.
const (
	kindHello  kind = 'h'
	kindStdin  kind = 'i'
	kindShut   kind = 'c'
	kindSignal kind = 's'
	kindStdout kind = 'o'
	kindStderr kind = 'e'
	kindExit   kind = 'x'
)

// hello is how the program was started.
type hello struct {
	Argv []string `json:"argv"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`
}

// ending is how the program is to end.
type ending struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
}

// maxFrame bounds what is believed of a frame's length.
const maxFrame = 16 << 20

// wire is a connection as frames: kind, length, bytes.
type wire struct {
	r  *bufio.Reader
	mu sync.Mutex
	w  io.Writer
}

func newWire(c io.ReadWriter) *wire { return &wire{r: bufio.NewReader(c), w: c} }

func (w *wire) read() (kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(w.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes", n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(w.r, b)
	return kind(head[0]), b, err
}

func (w *wire) write(k kind, b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	frame := binary.BigEndian.AppendUint32([]byte{byte(k)}, uint32(len(b)))
	_, err := w.w.Write(append(frame, b...))
	return err
}

// copyFrom writes what r gives, each read as a frame: what was cut apart stays
// apart as far as the pipes behind allow.
func (w *wire) copyFrom(r io.Reader, k kind) error {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if err := w.write(k, buf[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return nil //nolint:nilerr // the end of what is copied is no failure of the copy
		}
	}
}

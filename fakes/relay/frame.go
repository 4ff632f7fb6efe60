package relay

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// frameKind is the content of a frame.
type frameKind byte

// From the program: how it was started, bytes of stdin, the end of stdin, a signal. To it:
// bytes of stdout and stderr, the end of stdout or of the reading of stdin, and how to
// exit.
const (
	kindHello  frameKind = 'h'
	kindStdin  frameKind = 'i'
	kindShut   frameKind = 'c'
	kindSignal frameKind = 's'
	kindStdout frameKind = 'o'
	kindStderr frameKind = 'e'
	kindMute   frameKind = 'm' // close stdout
	kindDeaf   frameKind = 'd' // close stdin
	kindExit   frameKind = 'x'
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

// maxFrame is the longest frame that is accepted.
const maxFrame = 16 << 20

// frames is a connection that carries frames: kind, length, bytes.
type frames struct {
	r  *bufio.Reader
	mu sync.Mutex
	w  io.Writer
}

func newFrames(c io.ReadWriter) *frames { return &frames{r: bufio.NewReader(c), w: c} }

func (w *frames) readFrame() (frameKind, []byte, error) {
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
	return frameKind(head[0]), b, err
}

func (w *frames) writeFrame(k frameKind, b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	frame := binary.BigEndian.AppendUint32([]byte{byte(k)}, uint32(len(b)))
	_, err := w.w.Write(append(frame, b...))
	return err
}

// copyFrom writes each read of r as a frame: separate writes stay separate as far as the
// pipes allow.
func (w *frames) copyFrom(r io.Reader, k frameKind) error {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if err := w.writeFrame(k, buf[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return nil //nolint:nilerr // the end of r is no failure of the copy
		}
	}
}

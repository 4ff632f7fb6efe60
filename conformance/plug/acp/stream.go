package acp

import (
	"bytes"
	"io"
)

// blockedReader blocks until ready is closed. A connection reads from the moment
// it is made, but its logger can be set only afterwards.
type blockedReader struct {
	r     io.Reader
	ready <-chan struct{}
}

func (b *blockedReader) Read(p []byte) (int, error) {
	<-b.ready
	return b.r.Read(p)
}

// watchReads shows each line that is read.
func (x *session) watchReads(r io.Reader) io.Reader {
	return io.TeeReader(r, &lineWriter{show: func(l string) { x.Program.Show(false, l) }})
}

// watchWrites shows each line that is written, and notes a failed write.
func (x *session) watchWrites(w io.Writer) io.Writer {
	return io.MultiWriter(&failureWriter{w, x}, &lineWriter{show: func(l string) { x.Program.Show(true, l) }})
}

type failureWriter struct {
	io.Writer
	x *session
}

func (f *failureWriter) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	if err != nil {
		f.x.unreadable.Store(true)
	}
	return n, err
}

type lineWriter struct {
	show func(string)
	buf  []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p...)
	for {
		i := bytes.IndexByte(w.buf, '\n')
		if i < 0 {
			return len(p), nil
		}
		w.show(string(w.buf[:i]))
		w.buf = w.buf[i+1:]
	}
}

package event

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/lines"
)

func TestStream(t *testing.T) {
	g := NewWithT(t)
	var buf bytes.Buffer
	enc := NewEncoder(&buf)
	for _, d := range whole {
		g.Expect(enc.Encode(wrap(d))).To(Succeed())
	}
	g.Expect(strings.Count(buf.String(), "\n")).To(Equal(len(whole)))
	dec := NewDecoder(iotest.OneByteReader(&buf))
	for _, d := range whole {
		e, err := dec.Next()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(e).To(Equal(wrap(d)))
	}
	for range 2 {
		_, err := dec.Next()
		g.Expect(err).To(Equal(io.EOF))
	}
}

func TestDecoderReportsBadLineAndContinues(t *testing.T) {
	g := NewWithT(t)
	good := line("done", `{}`)
	dec := NewDecoder(strings.NewReader("\n" + good + "\r\n  \n" + line("done", `{"x":1}`) + "\n" + good))
	e, err := dec.Next()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(e.Data).To(Equal(Done{}))
	_, err = dec.Next()
	g.Expect(err).To(MatchError("line 4: data.x: unknown field"))
	var le *LineError
	g.Expect(errors.As(err, &le)).To(BeTrue())
	g.Expect(le.Line).To(Equal(4))
	_, err = dec.Next()
	g.Expect(err).NotTo(HaveOccurred(), "a last line without a line end counts")
	_, err = dec.Next()
	g.Expect(err).To(Equal(io.EOF))
}

func TestDecoderSkipsLongLine(t *testing.T) {
	g := NewWithT(t)
	good := line("done", `{}`)
	dec := newDecoder(strings.NewReader(strings.Repeat("x", 300<<10)+"\n"+good+"\n"), 200<<10)
	_, err := dec.Next()
	g.Expect(err).To(MatchError(lines.ErrTooLong))
	g.Expect(err).To(MatchError(ContainSubstring("line 1: ")))
	_, err = dec.Next()
	g.Expect(err).NotTo(HaveOccurred())
}

func TestDecoderKeepsReaderError(t *testing.T) {
	g := NewWithT(t)
	broken := errors.New("broken")
	dec := NewDecoder(io.MultiReader(strings.NewReader(line("done", `{}`)+"\n"), iotest.ErrReader(broken)))
	_, err := dec.Next()
	g.Expect(err).NotTo(HaveOccurred())
	for range 2 {
		_, err = dec.Next()
		g.Expect(err).To(MatchError(broken))
		g.Expect(errors.As(err, new(*LineError))).To(BeFalse(), "a caller that skips bad lines would loop forever")
	}
}

func TestEncoderWritesNothingOfBadEvent(t *testing.T) {
	g := NewWithT(t)
	var buf bytes.Buffer
	enc := NewEncoder(&buf)
	g.Expect(enc.Encode(Event{})).NotTo(Succeed())
	g.Expect(buf.Len()).To(BeZero())
	g.Expect(enc.Encode(wrap(Done{}))).To(Succeed())
	_, err := Decode(bytes.TrimSpace(buf.Bytes()))
	g.Expect(err).NotTo(HaveOccurred())
}

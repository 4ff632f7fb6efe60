package perform

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// TestTransferTime demands that a line of 264 KB in single bytes may take longer than the time
// after which a subject is considered idle, and that nothing counts as unmoved meanwhile.
func TestTransferTime(t *testing.T) {
	g := NewWithT(t)
	line := make([]byte, 264_000)
	alone := func(b []byte) [][]byte { return make([][]byte, len(b)) }
	g.Expect(transferTime(line, alone)).To(BeNumerically(">", 2*idleTime))
	g.Expect(transferTime(line[:300], nil)).To(BeNumerically("<", time.Millisecond))

	p := &processEnvironment{d: &director{start: time.Now().Add(-time.Minute)}}
	p.movedUntil(time.Hour)
	p.moved()
	g.Expect(p.unmovedFor()).To(BeZero())
}

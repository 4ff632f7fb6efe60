package bench

import (
	"context"
	"os/exec"
	"runtime"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestAllCPU(t *testing.T) {
	g := NewWithT(t)
	sum, ok := allCPU([]byte("cpu  100 10 50 9000 800 3 7 30 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n"))
	g.Expect(ok).To(BeTrue())
	g.Expect(sum).To(Equal(2 * time.Second))
	for _, text := range []string{"", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3 4 x 6 7 8"} {
		_, ok := allCPU([]byte(text))
		g.Expect(ok).To(BeFalse(), text)
	}
}

// TestOthersLeavesOutThisProgram: what this program and its children take is not counted.
func TestOthersLeavesOutThisProgram(t *testing.T) {
	g := NewWithT(t)
	at := time.Now()
	start := busy{began: at, all: time.Minute, own: time.Second}
	g.Expect(busy{began: at.Add(time.Second), all: time.Minute + 1500*time.Millisecond, own: 2 * time.Second}.others(start)).To(BeNumerically("~", 0.5, 0.001))
	g.Expect(busy{began: at.Add(time.Second), all: time.Minute, own: 2 * time.Second}.others(start)).To(BeZero(), "the two clocks differ by a tick")
	g.Expect(busy{began: at.Add(2 * time.Second), all: time.Minute + time.Second}.processors(start)).To(BeNumerically("~", 0.5, 0.001), "of all programs, this one too")
	first, ok := newBusy()
	if runtime.GOOS != "linux" {
		g.Expect(ok).To(BeFalse())
		return
	}
	g.Expect(ok).To(BeTrue())
	g.Expect(exec.CommandContext(context.Background(), "true").Run()).To(Succeed())
	end, ok := newBusy()
	g.Expect(ok).To(BeTrue())
	g.Expect(end.all).To(BeNumerically(">=", first.all))
	g.Expect(end.own).To(BeNumerically(">=", first.own))
}

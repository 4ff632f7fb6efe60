package bench

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"time"
)

// busy measures how much processor time programs take.
type busy struct {
	began time.Time
	all   time.Duration // that all programs have had since the machine started
	own   time.Duration // that this program and its children have had
}

// newBusy begins to measure. It returns false if the system does not report what all
// programs take.
func newBusy() (b busy, ok bool) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return b, false
	}
	self, children := CPUTime()
	b = busy{began: time.Now(), own: time.Duration(self + children)}
	b.all, ok = allCPU(stat)
	return b, ok
}

// others returns how many processors other programs have had on average since start.
func (b busy) others(start busy) float64 {
	took := b.all - start.all - (b.own - start.own)
	return min(max(0, took.Seconds()/b.began.Sub(start.began).Seconds()), float64(runtime.NumCPU()))
}

// processors returns how many processors all programs have had on average since start.
func (b busy) processors(start busy) float64 {
	return min((b.all-start.all).Seconds()/b.began.Sub(start.began).Seconds(), float64(runtime.NumCPU()))
}

// tick is the unit of /proc/stat: USER_HZ is 100 on all architectures that Go supports.
const tick = time.Second / 100

// allCPU reads from /proc/stat what all programs have had of all processors. Of a virtual
// machine, the time that the host gave to others counts too.
func allCPU(stat []byte) (time.Duration, bool) {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) < 9 || string(fields[0]) != "cpu" {
		return 0, false
	}
	var sum time.Duration
	for i, f := range fields[1:9] { // user, nice, system, idle, iowait, irq, softirq, steal
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, false
		}
		if idle := i == 3 || i == 4; !idle {
			sum += time.Duration(n) * tick
		}
	}
	return sum, true
}

package bench

import (
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// usage is the cost of a trial.
type usage struct {
	cpu    float64 // nanoseconds, user and system
	allocs float64
	bytes  float64
	peak   float64 // bytes of memory above the level before the trial
}

// meter measures the resources that this program and its children use.
type meter struct {
	self, children int64
	mem            runtime.MemStats
	base, peak     float64
	external       bool
	stop, stopped  chan struct{}
}

// sampleInterval is the interval at which memory is sampled.
const sampleInterval = 25 * time.Millisecond

func newMeter(external bool) *meter {
	runtime.GC()
	m := &meter{external: external, stop: make(chan struct{}), stopped: make(chan struct{})}
	m.base = m.memory()
	runtime.ReadMemStats(&m.mem)
	m.self, m.children = CPUTime()
	go m.watch()
	return m
}

func (m *meter) watch() {
	defer close(m.stopped)
	t := time.NewTicker(sampleInterval)
	defer t.Stop()
	for {
		select {
		case <-m.stop:
			return
		case <-t.C:
			m.peak = max(m.peak, m.memory()-m.base)
		}
	}
}

// memory returns the memory of this program's heap and stacks, or of the programs
// that it has started, except for other instances of itself (the stand-ins).
func (m *meter) memory() float64 {
	if m.external {
		return descendants()
	}
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(s)
	return float64(s[0].Value.Uint64() + s[1].Value.Uint64())
}

// held returns the memory that is held beyond the level before the trial.
func (m *meter) held() float64 {
	for range 2 { // the first collection only marks what pools hold
		runtime.GC()
	}
	return m.memory() - m.base
}

// finish ends the measurement. sources is what the stand-ins have used.
func (m *meter) finish(sources int64) usage {
	close(m.stop)
	<-m.stopped
	self, children := CPUTime()
	self, children = self-m.self, children-m.children
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	u := usage{cpu: float64(self), peak: m.peak}
	if m.external {
		u.cpu = float64(max(0, children-sources))
		return u
	}
	u.allocs, u.bytes = float64(after.Mallocs-m.mem.Mallocs), float64(after.TotalAlloc-m.mem.TotalAlloc)
	return u
}

// mostResident returns the maximum resident memory of this program in bytes, if
// /proc reports it. (getrusage starts with that of the program that started this
// one.)
func mostResident() float64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	f := strings.Fields(rest)
	if len(f) == 0 {
		return 0
	}
	kib, _ := strconv.ParseFloat(f[0], 64)
	return kib * 1024
}

// descendants returns the resident memory of the programs that this one has started,
// in bytes, if /proc reports it.
func descendants() float64 {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	self, _ := os.Executable()
	parents, resident := map[int]int{}, map[int]float64{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		f := strings.Fields(rest)
		if len(f) < 22 {
			continue
		}
		parents[pid], _ = strconv.Atoi(f[1])
		if exe, _ := os.Readlink("/proc/" + e.Name() + "/exe"); exe != self {
			pages, _ := strconv.ParseFloat(f[21], 64)
			resident[pid] = pages * float64(os.Getpagesize())
		}
	}
	var sum float64
	for pid, size := range resident {
		for p := parents[pid]; p > 1; p = parents[p] {
			if p == os.Getpid() {
				sum += size
				break
			}
		}
	}
	return sum
}

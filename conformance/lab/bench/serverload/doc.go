// Package serverload measures a server of package sidecar under load: how late events
// reach listeners over HTTP, whether one is lost or doubled, and what an idle listener
// costs. It is not part of the stable interface.
//
// The server runs in a process of its own, with sessions that emit deltas at a fixed rate.
// Each delta holds the time at which it was due, and delays count from then. There are two
// controls in the same run: a listener inside the server's process, which receives each
// event before the server does, and a plain handler, which writes the same events to as
// many listeners without a log.
package serverload

import "time"

// Config is a load.
type Config struct {
	Sessions  int           // that run at once
	Listeners int           // of each session
	Rate      float64       // deltas a second of each session
	For       time.Duration `json:"-"` // how long they emit
	Idle      int           // idle listeners; 0: they are not measured
	Log       string        // sqlite or memory
	Dir       string        // for the log; it must exist
	Profile   string        // file for the server's CPU profile; "": none
}

// Deltas returns how many deltas each session emits.
func (c Config) Deltas() int { return max(1, int(c.For.Seconds()*c.Rate)) }

// Delays are percentiles, in seconds since a delta was due.
type Delays struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Phase is the result of one way to deliver the events.
type Phase struct {
	Name      string  `json:"name"`      // sidecar or plain
	Delivered int64   `json:"delivered"` // events that listeners received
	Lost      int64   `json:"lost"`      // events that a listener should have received and has not
	Doubled   int64   `json:"doubled"`   // events that it received again, or out of order
	InProcess Delays  `json:"in_process"`
	HTTP      Delays  `json:"http"`
	CPU       float64 `json:"cpu_seconds"` // of the server's process, while deltas were emitted
	Took      float64 `json:"seconds"`
}

// Ratio returns the 99th percentile over HTTP in multiples of that in the process.
func (p Phase) Ratio() float64 { return p.HTTP.P99 / p.InProcess.P99 }

// Idle is what idle listeners cost the server.
type Idle struct {
	Listeners   int     `json:"listeners"`
	PerListener float64 `json:"bytes_per_listener"` // heap and stacks in use
	Resident    float64 `json:"resident_bytes"`     // of the server's process with all of them; 0 if the system does not report it
}

// Result is the outcome of a run.
type Result struct {
	Sessions  int     `json:"sessions"`
	Listeners int     `json:"listeners"`
	Rate      float64 `json:"rate"`
	Deltas    int     `json:"deltas"`
	Log       string  `json:"log"`
	Phases    []Phase `json:"phases"`
	Idle      *Idle   `json:"idle,omitempty"`
}

package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// TestHeartbeat checks that a run whose output is no terminal reports at intervals what it does.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		h := newHeartbeat(&out, "loading the recordings")
		time.Sleep(10 * time.Second)
		h.step(3, 7, "claude/1/text/a")
		time.Sleep(10 * time.Second)
		h.stop()
		if want := "after 9s: loading the recordings\nafter 18s: 3 of 7 cases, the last claude/1/text/a\n"; out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
		if heartbeatTime > 10*time.Second {
			t.Error("ten seconds pass in silence")
		}
	})
}

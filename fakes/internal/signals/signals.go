// Package signals lets a stand-in program receive signals and end by one, as the runtime
// would.
package signals

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/turnspec/turnspec/adapters/proc"
)

// Notify returns the signals that this program receives, until the returned function is
// called.
func Notify() (<-chan proc.Signal, func()) {
	in, out, stopped := make(chan os.Signal, 4), make(chan proc.Signal), make(chan struct{})
	signal.Notify(in, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for {
			select {
			case s := <-in:
				name := proc.SIGTERM
				switch s {
				case os.Interrupt:
					name = proc.SIGINT
				case syscall.SIGHUP:
					name = proc.SIGHUP
				}
				select {
				case out <- name:
				case <-stopped:
					return
				}
			case <-stopped:
				return
			}
		}
	}()
	return out, func() {
		signal.Stop(in)
		close(stopped)
	}
}

// EndBy ends this program as the runtime ended: by a signal.
func EndBy(s proc.Signal) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return
	}
	sig := map[proc.Signal]os.Signal{proc.SIGINT: os.Interrupt, proc.SIGTERM: syscall.SIGTERM, proc.SIGHUP: syscall.SIGHUP, proc.SIGKILL: os.Kill}[s]
	if sig == nil {
		return
	}
	signal.Reset()
	if self.Signal(sig) == nil {
		select {} // the signal arrives at once
	}
}

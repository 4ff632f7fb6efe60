package runtime

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/turnspec/turnspec/adapters/proc"
)

// notify gives the signals that this program is sent.
func notify() (<-chan proc.Signal, func()) {
	in, out, over := make(chan os.Signal, 4), make(chan proc.Signal), make(chan struct{})
	signal.Notify(in, os.Interrupt, syscall.SIGTERM)
	go func() {
		for {
			select {
			case s := <-in:
				name := proc.SIGTERM
				if s == os.Interrupt {
					name = proc.SIGINT
				}
				select {
				case out <- name:
				case <-over:
					return
				}
			case <-over:
				return
			}
		}
	}()
	return out, func() {
		signal.Stop(in)
		close(over)
	}
}

// endBy ends this program as the runtime ended: by a signal.
func endBy(s proc.Signal) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return
	}
	sig := map[proc.Signal]os.Signal{proc.SIGINT: os.Interrupt, proc.SIGTERM: syscall.SIGTERM, proc.SIGKILL: os.Kill}[s]
	if sig == nil {
		return
	}
	signal.Reset()
	if self.Signal(sig) == nil {
		select {} // it comes at once
	}
}

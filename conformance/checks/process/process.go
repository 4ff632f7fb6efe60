// Package process holds the checks of starting and ending the process of a runtime. It is
// not part of the stable interface.
package process

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		StartFailure,
		ExitCode,
		GracefulClose,
		NoOrphans,
		SIGTERM,
		SIGINT,
		SIGHUP,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		noExitCode,
		killsAtOnce,
		leavesTheRuntime,
		hangsWhenItCannotStart,
		losesStderr,
		startFailureLooksSlow,
		untypedStartFailure,
	}
}

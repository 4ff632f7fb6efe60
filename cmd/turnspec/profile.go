package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/spf13/cobra"
)

// profiles names files for `go tool pprof`. The flags are hidden.
type profiles struct{ cpu, mem string }

func (p *profiles) flags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&p.cpu, "cpuprofile", "", "write a profile of the CPU's time")
	fl.StringVar(&p.mem, "memprofile", "", "write a profile of the memory that was allocated")
	for _, name := range []string{"cpuprofile", "memprofile"} {
		_ = fl.MarkHidden(name) // it was defined above
	}
}

// start starts profiling and returns a function that stops it and writes the
// files.
func (p *profiles) start() (stop func() error, err error) {
	var cpu, mem *os.File
	if cpu, err = create(p.cpu); err != nil {
		return nil, err
	}
	if mem, err = create(p.mem); err != nil {
		return nil, err
	}
	if cpu != nil {
		if err := pprof.StartCPUProfile(cpu); err != nil {
			return nil, err
		}
	}
	return func() error {
		var err error
		if cpu != nil {
			pprof.StopCPUProfile()
			err = cpu.Close()
		}
		if mem != nil {
			err = errors.Join(err, pprof.Lookup("allocs").WriteTo(mem, 0), mem.Close())
		}
		return err
	}, nil
}

// create creates the file of a flag, or returns nil if it was not given.
func create(name string) (*os.File, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	return f, nil
}

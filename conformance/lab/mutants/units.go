package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// corpusTests are the tests of the adapters that play the whole corpus: what they see
// the suite sees as well, in less time.
const corpusTests = "Anywhere|TheText|Recording|FastPath|FuzzFast|Allocations|Late|Unknown|Transcript|Prefix|Stress|Flat|Witness"

// unitLimit bounds the tests of a package, which take about a second.
const unitLimit = 60 * time.Second

// unitTests runs the tests of a mutant's own package on the mutants that the suite
// did not kill.
func (o options) unitTests(dir, overlay string, out []Outcome) error {
	programs := map[string]string{}
	var left []int
	for i, x := range out {
		if x.Status == Killed || x.Tested || !o.units.MatchString(x.Package) {
			continue
		}
		left = append(left, i)
		if programs[x.Package] != "" {
			continue
		}
		program := filepath.Join(dir, strings.ReplaceAll(x.Package, "/", "-")+".test")
		if err := goBuild(overlay, program, "test", "-c", "./"+x.Package); err != nil {
			return err
		}
		if why := failsUnder(program, x.Package, 0); why != nil {
			return fmt.Errorf("the tests of %s fail without a mutant: %w", x.Package, why)
		}
		programs[x.Package] = program
	}
	return runParallel(o.workers, len(left), func() func(int) error {
		return func(i int) error {
			x := &out[left[i]]
			x.Tested = true
			x.Unit = failsUnder(programs[x.Package], x.Package, x.ID) != nil
			return nil
		}
	})
}

// failsUnder returns how the tests of a package fail with a mutant, or nil.
func failsUnder(program, pkg string, id int) error {
	ctx, cancel := context.WithTimeout(context.Background(), unitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-test.failfast", "-test.short", "-test.skip="+corpusTests)
	cmd.Dir = filepath.FromSlash(pkg)
	cmd.Env = append(os.Environ(), fmt.Sprintf("TURNSPEC_MUTANT=%d", id))
	b, err := cmd.CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		return fmt.Errorf("%w\n%s", err, b)
	}
	return err
}

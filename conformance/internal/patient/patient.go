// Package patient answers one question for tests: how many of them run at once
// where each waits for other processes and hardly computes?
package patient

import (
	"flag"
	"runtime"
	"strconv"
)

// each is how many such tests run at once for each core: they leave it idle most
// of the time. Limits in real time must hold on a busy machine all the same.
const each = 4

// Parallel lets the tests of a package that say t.Parallel run several at once
// for each core, where the command line does not say how many. It is called in
// TestMain, before Run.
func Parallel() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(each*runtime.GOMAXPROCS(0))) // a number is never wrong
	}
}

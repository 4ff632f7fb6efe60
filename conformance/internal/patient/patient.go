// Package patient sets how many parallel tests run at once in packages whose tests
// mostly wait for other processes.
package patient

import (
	"flag"
	"runtime"
	"strconv"
)

// each is how many such tests run at once for each core. They leave it idle most of
// the time. It is not higher, because limits in real time must hold on a busy machine
// too.
const each = 4

// Parallel sets test.parallel to several tests for each core, unless the command line
// sets it. It affects tests that call t.Parallel. Call it in TestMain before Run.
func Parallel() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(each*runtime.GOMAXPROCS(0))) // a number is always valid
	}
}

// Package patient sets how many parallel tests run at once in packages whose tests
// mostly wait for other processes.
package patient

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// each is how many such tests run at once for each core. They leave it idle most of
// the time. It is not higher, because limits in real time must hold on a busy machine
// too.
const each = 8

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

// DirectPython puts the folder of the Python that python3 starts first in PATH, if python3 is a script
// of a version manager: pyenv's starts twenty shells for each start of the interpreter.
func DirectPython() {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return // tests that need it say so
	}
	dir := filepath.Dir(strings.TrimSpace(string(out)))
	_ = os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")) // the name is valid
}

package policy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters"
)

// A cell runs allowed commands for real: in namespaces for users, mounts, processes and
// network, and in a root with a shell, a few programs that read or write, and stand-ins
// for the programs that are denied. A stand-in only records that it was reached. A
// command can harm only the cell, which is in a folder of the test.
type cell struct {
	dir   string // the cell's root
	stage string // bound into the cell at the same path: work, out, home, reached
	work  string
	clean bool // the stage is unchanged since set

	path    string   // of the programs in the cell
	binds   []string // more folders of this machine
	trace   string   // a file for what strace sees of the command; or "", if it is not watched
	prepare func()   // set calls it to add files to the stage; or nil
}

// honest are the real programs of a cell.
var honest = strings.Fields(`bash dash env xargs find sed awk timeout nohup nice setsid cat ls head tail grep sort uniq wc tr cut tee rm touch mkdir cp mv ln truncate shuf
	printf echo test expr seq sleep true false tar install rmdir unlink split comm diff git`)

// The stand-ins of a cell: programs that no policy here allows, and programs that a
// planner must not run.
var (
	nobodys  = strings.Fields("sudo doas shutdown chmod chown dd kill frob curl perl ssh crontab vim less mount")
	builders = strings.Fields("go make python3 npm cargo")
)

func newCell(tb testing.TB) *cell {
	tb.Helper()
	skip := tb.Skipf
	if *fuzzFor > 0 {
		skip = tb.Fatalf
	}
	if runtime.GOOS != "linux" {
		skip("commands run only in namespaces of their own, which Linux has")
	}
	if out, err := exec.Command("unshare", "-rmnpf", "--kill-child", "true").CombinedOutput(); err != nil {
		skip("commands run only in namespaces of their own, and this machine gives none: %v: %s", err, out)
	}
	base, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	c := &cell{path: "/bin", dir: filepath.Join(base, "cell"), stage: filepath.Join(base, "stage"), work: filepath.Join(base, "stage", "work")}
	for _, d := range []string{"bin", "dev", "tmp", filepath.Join(".", c.stage)} {
		must(tb, os.MkdirAll(filepath.Join(c.dir, d), 0o755))
	}
	must(tb, os.MkdirAll(c.stage, 0o755))
	must(tb, os.WriteFile(filepath.Join(c.dir, "dev/null"), nil, 0o644))
	for _, name := range honest {
		if !c.addProgram(tb, name) && (name == "bash" || name == "dash") {
			tb.Skip("a cell needs " + name)
		}
	}
	must(tb, os.Symlink("dash", filepath.Join(c.dir, "bin/sh")))
	for _, name := range slices.Concat(nobodys, builders) {
		must(tb, os.WriteFile(filepath.Join(c.dir, "bin", name), []byte("#!/bin/dash\necho "+name+" >>"+c.stage+"/reached\n"), 0o755))
	}
	return c
}

// addProgram copies a program with its libraries into the cell. It reports false if this
// machine does not have it.
func (c *cell) addProgram(tb testing.TB, name string) bool {
	tb.Helper()
	file, err := exec.LookPath(name)
	if err != nil {
		return false
	}
	file, err = filepath.EvalSymlinks(file)
	must(tb, err)
	copyFile(tb, file, filepath.Join(c.dir, "bin", filepath.Base(name)))
	libs, known := libraries[file]
	if !known {
		out, _ := exec.Command("ldd", file).Output() // fails for a static one
		libs = regexp.MustCompile(`/\S+\.so\S*`).FindAllString(string(out), -1)
		libraries[file] = libs
	}
	for _, lib := range libs {
		to := filepath.Join(c.dir, lib)
		if !strings.HasPrefix(lib, "/lib") && !strings.HasPrefix(lib, "/usr/lib") {
			to = filepath.Join(c.dir, "lib", filepath.Base(lib)) // the loader of the cell looks there
		}
		if !exists(to) {
			must(tb, os.MkdirAll(filepath.Dir(to), 0o755))
			copyFile(tb, lib, to)
		}
	}
	return true
}

// libraries are those of each program that a cell had so far.
var libraries = map[string][]string{}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func copyFile(tb testing.TB, from, to string) {
	tb.Helper()
	b, err := os.ReadFile(from)
	must(tb, err)
	must(tb, os.WriteFile(to, b, 0o755))
}

// resetStage creates the stage again, unless it is unchanged.
func (c *cell) resetStage(tb testing.TB) {
	tb.Helper()
	if c.clean {
		return
	}
	c.clean = true
	must(tb, os.RemoveAll(c.stage))
	for name, text := range map[string]string{
		"work/a.txt": "a\nsudo\n", "work/b.txt": "b\n", "work/sub/c.txt": "c\n", "work/.git/config": "g\n", "work/-o": "", "work/run.sh": "sudo\n",
		"out/x": "x\n", "home/x": "x\n", "work/link-out": "-> ../out", "work/link-file": "-> ../out/x", "work/link-in": "-> sub",
	} {
		file := filepath.Join(c.stage, name)
		must(tb, os.MkdirAll(filepath.Dir(file), 0o755))
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			must(tb, os.Symlink(to, file))
		} else {
			must(tb, os.WriteFile(file, []byte(text), 0o644))
		}
	}
	if c.prepare != nil {
		c.prepare()
	}
}

// enterScript runs in the namespaces, before the command.
const enterScript = `mount --bind "$STAGE" "$CELL$STAGE" && mount --bind /dev/null "$CELL/dev/null" || exit
for dir in $BINDS; do mount --bind "$dir" "$CELL$dir" || exit; done
exec chroot "$CELL" /bin/bash -c 'ulimit -f 2048 -t 2 -v 400000 -u 200; cd "$WORK" && exec env -i PATH="$CELLPATH" HOME="$HOME" /bin/bash -c "$0"' "$COMMAND"`

// runCommand runs a command and returns its effects that no policy may allow. For a
// planner, these include all changes of the workspace.
func (c *cell) runCommand(tb testing.TB, command string, planner bool) (harm []string) {
	tb.Helper()
	c.resetStage(tb)
	before := c.listProtected(tb, planner)
	c.execute(tb, command)
	for _, name := range c.listReached(tb) {
		if !slices.Contains(builders, name) || planner {
			harm = append(harm, name+" was reached")
		}
	}
	for name, what := range differences(before, c.listProtected(tb, planner)) {
		harm = append(harm, name+" is "+what)
	}
	slices.Sort(harm)
	return harm
}

// execute runs a command in the cell, and returns its output. On a slow machine, the time may be
// over before the command has begun; then it gets more.
func (c *cell) execute(tb testing.TB, command string) string {
	tb.Helper()
	c.clean = false
	for limit := 5 * time.Second; ; limit *= 4 {
		out := c.executeWithin(tb, command, limit)
		if c.trace == "" || limit > time.Minute {
			return out
		}
		if b, _ := os.ReadFile(c.trace); bytes.Contains(b, []byte(commandBegins)) {
			return out
		}
	}
}

// commandBegins is in the trace when the cell has been entered.
const commandBegins = `["env", "-i", "PATH=`

func (c *cell) executeWithin(tb testing.TB, command string, limit time.Duration) string {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit) // the command may loop forever
	defer cancel()
	argv := []string{"unshare", "-rmnpf", "--kill-child", "sh", "-c", enterScript}
	if c.trace != "" {
		argv = append(strings.Fields("strace -qq -f -y --seccomp-bpf -s 4096 -e trace=execve,open,openat,connect,sendto,bind -o "+c.trace), argv...)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LD_LIBRARY_PATH=" + os.Getenv("LD_LIBRARY_PATH"), "CELLPATH=" + c.path, "BINDS=" + strings.Join(c.binds, " "), "STAGE=" + c.stage, "CELL=" + c.dir, "WORK=" + c.work, "HOME=" + c.stage + "/home", "COMMAND=" + command}
	cmd.WaitDelay = time.Second
	out, _ := cmd.CombinedOutput() // the command may fail
	// When the time is over, strace ends first, and what it traced fails.
	if ctx.Err() == nil && (strings.HasPrefix(string(out), "mount:") || strings.HasPrefix(string(out), "chroot:")) {
		tb.Fatalf("the cell does not work: %s", out)
	}
	return string(out)
}

// listReached returns the names of the stand-ins that the command ran.
func (c *cell) listReached(tb testing.TB) []string {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(c.stage, "reached"))
	if !errors.Is(err, fs.ErrNotExist) {
		must(tb, err)
	}
	names := strings.Fields(string(b))
	slices.Sort(names)
	return slices.Compact(names)
}

// differences returns how each file differs: new, changed or gone.
func differences(before, after map[string]string) map[string]string {
	out := map[string]string{}
	for name, is := range after {
		if was, ok := before[name]; !ok {
			out[name] = "new"
		} else if was != is {
			out[name] = "changed"
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			out[name] = "gone"
		}
	}
	return out
}

// listProtected lists everything that an allowed command must not change.
func (c *cell) listProtected(tb testing.TB, planner bool) map[string]string {
	tb.Helper()
	out := map[string]string{}
	for _, root := range []string{c.stage, c.dir} {
		must(tb, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(root, name)
			switch {
			case root == c.stage && rel == "reached",
				root == c.stage && strings.HasPrefix(rel, "work/") && !planner && !strings.HasPrefix(rel, "work/.git"),
				root == c.dir && rel == "tmp": // for here-documents
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			text := fmt.Sprint(info.Mode(), info.Size())
			if root == c.stage && info.Mode().IsRegular() {
				b, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				text += string(b)
			}
			if d.IsDir() {
				text = info.Mode().String()
			}
			out[name] = text
			return nil
		}))
	}
	return out
}

// decider is a policy, sound or broken.
type decider func(p *Policy, command, dir string) adapters.Effect

func sound(p *Policy, command, dir string) adapters.Effect {
	d := p.Decide(adapters.Call{Tool: "Bash", Dir: dir, Input: CommandInput(command)})
	if strings.Contains(d.Reason, failedReason) {
		panic(fmt.Sprintf("%q: %s", command, d.Reason))
	}
	return d.Effect
}

// tryCommand runs a command if the policy allows it. It returns whether the command was
// allowed, and its harm.
func (c *cell) tryCommand(tb testing.TB, decide decider, mode Mode, command string) (allowed bool, harm []string) {
	tb.Helper()
	c.resetStage(tb)
	p := Policy{Mode: mode, Roots: []string{c.work}, Home: filepath.Join(c.stage, "home")}
	if decide(&p, command, c.work) != adapters.EffectAllow {
		return false, nil
	}
	harm = c.runCommand(tb, command, mode == Planner)
	if len(harm) > 0 { // the cell itself may be harmed
		for _, h := range harm {
			if strings.Contains(h, c.dir+"/") {
				tb.Fatalf("%s: %q: %v", mode, command, harm)
			}
		}
	}
	return true, harm
}

package policy

import (
	"context"
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

// A cell is where allowed commands really run: namespaces of their own for users,
// mounts, processes and network, and a root that holds a shell, a few programs
// that read or write, and stand-ins for those that are denied. A stand-in does
// nothing but to write down that it was reached. What a command can harm is the
// cell, which lies in a folder of the test.
type cell struct {
	dir   string // the cell's root
	stage string // bound into the cell at the same path: work, out, home, reached
	work  string
	clean bool // the stage is as it was set

	prepare func() // adds to the stage when it is set; or nil
}

// honest are the programs of a cell that do what their names say.
var honest = strings.Fields(`bash dash env xargs find sed awk timeout nohup nice setsid cat ls head tail grep sort uniq wc tr cut tee rm touch mkdir cp mv ln truncate shuf
	printf echo test expr seq sleep true false tar install rmdir unlink split comm diff git`)

// Stand-ins of a cell: what no policy here allows, and what a planner may not.
var (
	nobodys  = strings.Fields("sudo doas shutdown chmod chown dd kill frob curl perl ssh crontab vim less mount")
	builders = strings.Fields("go make python3 npm cargo")
)

func newCell(tb testing.TB) *cell {
	tb.Helper()
	if runtime.GOOS != "linux" {
		tb.Skip("commands run only in namespaces of their own, which Linux has")
	}
	if out, err := exec.Command("unshare", "-rmnpf", "--kill-child", "true").CombinedOutput(); err != nil {
		tb.Skipf("commands run only in namespaces of their own, and this machine gives none: %v: %s", err, out)
	}
	base, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	c := &cell{dir: filepath.Join(base, "cell"), stage: filepath.Join(base, "stage"), work: filepath.Join(base, "stage", "work")}
	for _, d := range []string{"bin", "dev", "tmp", filepath.Join(".", c.stage)} {
		must(tb, os.MkdirAll(filepath.Join(c.dir, d), 0o755))
	}
	must(tb, os.MkdirAll(c.stage, 0o755))
	must(tb, os.WriteFile(filepath.Join(c.dir, "dev/null"), nil, 0o644))
	libs := map[string]bool{}
	for _, name := range honest {
		file, err := exec.LookPath(name)
		if err != nil {
			if name == "bash" || name == "dash" {
				tb.Skip("a cell needs " + name)
			}
			continue
		}
		file, err = filepath.EvalSymlinks(file)
		must(tb, err)
		copyFile(tb, file, filepath.Join(c.dir, "bin", name))
		out, _ := exec.Command("ldd", file).Output() // a static one has none
		for _, lib := range regexp.MustCompile(`/\S+\.so\S*`).FindAllString(string(out), -1) {
			libs[lib] = true
		}
	}
	for lib := range libs {
		to := filepath.Join(c.dir, lib)
		must(tb, os.MkdirAll(filepath.Dir(to), 0o755))
		copyFile(tb, lib, to)
	}
	must(tb, os.Symlink("dash", filepath.Join(c.dir, "bin/sh")))
	for _, name := range slices.Concat(nobodys, builders) {
		must(tb, os.WriteFile(filepath.Join(c.dir, "bin", name), []byte("#!/bin/dash\necho "+name+" >>"+c.stage+"/reached\n"), 0o755))
	}
	return c
}

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

// set makes the stage anew.
func (c *cell) set(tb testing.TB) {
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

// entering is what runs in the namespaces, before the command.
const entering = `mount --bind "$STAGE" "$CELL$STAGE" && mount --bind /dev/null "$CELL/dev/null" &&
exec chroot "$CELL" /bin/bash -c 'ulimit -f 2048 -t 2 -v 400000 -u 200; cd "$WORK" && exec env -i PATH=/bin HOME="$HOME" /bin/bash -c "$0"' "$COMMAND"`

// run lets a command run, and says what of it no policy may allow: planner says
// that the workspace must stay as it was, too.
func (c *cell) run(tb testing.TB, command string, planner bool) (harm []string) {
	tb.Helper()
	c.set(tb)
	before := c.listing(tb, planner)
	c.clean = false
	// A loop may have no end: what is killed then has done its harm or none.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "-rmnpf", "--kill-child", "sh", "-c", entering)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "STAGE=" + c.stage, "CELL=" + c.dir, "WORK=" + c.work, "HOME=" + c.stage + "/home", "COMMAND=" + command}
	cmd.WaitDelay = time.Second
	out, _ := cmd.CombinedOutput() // the command's own failure is nobody's
	if strings.HasPrefix(string(out), "mount:") || strings.HasPrefix(string(out), "chroot:") {
		tb.Fatalf("the cell does not work: %s", out)
	}
	b, err := os.ReadFile(filepath.Join(c.stage, "reached"))
	if err == nil {
		for name := range strings.FieldsSeq(string(b)) {
			if !slices.Contains(builders, name) || planner {
				harm = append(harm, name+" was reached")
			}
		}
	}
	after := c.listing(tb, planner)
	for name, is := range after {
		if was, ok := before[name]; !ok {
			harm = append(harm, name+" is new")
		} else if was != is {
			harm = append(harm, name+" is changed")
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			harm = append(harm, name+" is gone")
		}
	}
	slices.Sort(harm)
	return slices.Compact(harm)
}

// listing is all that an allowed command must leave as it is.
func (c *cell) listing(tb testing.TB, planner bool) map[string]string {
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
				root == c.dir && rel == "tmp": // here-documents come and go
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

// decider is a policy, or one that is broken.
type decider func(p *Policy, command, dir string) adapters.Effect

func sound(p *Policy, command, dir string) adapters.Effect {
	d := p.Decide(adapters.Call{Tool: "Bash", Dir: dir, Input: CommandInput(command)})
	if strings.Contains(d.Reason, failedReason) {
		panic(fmt.Sprintf("%q: %s", command, d.Reason))
	}
	return d.Effect
}

// try lets a policy decide and, if it allows, the command run. It says whether
// it was allowed, and what harm came of it.
func (c *cell) try(tb testing.TB, decide decider, mode Mode, command string) (allowed bool, harm []string) {
	tb.Helper()
	c.set(tb)
	p := Policy{Mode: mode, Roots: []string{c.work}, Home: filepath.Join(c.stage, "home")}
	if decide(&p, command, c.work) != adapters.EffectAllow {
		return false, nil
	}
	harm = c.run(tb, command, mode == Planner)
	if len(harm) > 0 { // the cell itself may be harmed
		for _, h := range harm {
			if strings.Contains(h, c.dir+"/") {
				tb.Fatalf("%s: %q: %v", mode, command, harm)
			}
		}
	}
	return true, harm
}

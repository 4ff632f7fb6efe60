package policy

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
)

var (
	fuzzFor  = flag.Duration("for", 0, "how long TestToolsInCell generates commands; 0 is a few commands")
	fuzzSeed = flag.Uint64("seed", 1, "of the commands of TestToolsInCell")
)

// busyboxPrograms are those that one of the cell's paths takes from busybox.
var busyboxPrograms = strings.Fields("sh awk sed find xargs tar sort grep cat head tail cut tr uniq wc ls cp mv ln rm touch mkdir tee env timeout nice diff comm seq truncate test printf")

// moreHonest are the real programs that a cell of tools has beside those of honest.
var moreHonest = strings.Fields("mawk gawk busybox gzip bzip2 xz stdbuf basename dirname stat readlink realpath nl od fold paste join tac rev cksum md5sum base64 du id date make which file xxd column cmp expand mktemp")

// newToolCell returns a cell with more programs, in a workspace that is a repository. paths
// are the PATHs under which a command runs: with dash and mawk, with bash and gawk, with
// busybox.
func newToolCell(tb testing.TB) (c *cell, paths []string) {
	tb.Helper()
	c = newCell(tb)
	has := map[string]bool{"dash": true, "bash": true}
	for _, name := range moreHonest {
		has[name] = c.addProgram(tb, name)
	}
	if _, err := os.Stat("/usr/bin/python3"); err == nil {
		c.addProgram(tb, "/usr/bin/python3")
		lib, _ := filepath.Glob("/usr/lib/python3.*")
		c.binds = append(c.binds, lib...)
		for _, dir := range lib {
			must(tb, os.MkdirAll(filepath.Join(c.dir, dir), 0o755))
		}
	}
	for path, links := range map[string][][2]string{
		"/paths/debian":  {{"sh", "dash"}, {"awk", "mawk"}},
		"/paths/gnu":     {{"sh", "bash"}, {"awk", "gawk"}},
		"/paths/busybox": nil,
	} {
		if path == "/paths/busybox" {
			for _, name := range busyboxPrograms {
				links = append(links, [2]string{name, "busybox"})
			}
		}
		if slices.ContainsFunc(links, func(l [2]string) bool { return !has[l[1]] }) {
			tb.Logf("this machine lacks what %s needs", path)
			continue
		}
		must(tb, os.MkdirAll(filepath.Join(c.dir, path), 0o755))
		for _, l := range links {
			must(tb, os.Symlink("/bin/"+l[1], filepath.Join(c.dir, path, l[0])))
		}
		paths = append(paths, path+":/bin")
	}
	slices.Sort(paths)
	// A container may keep strace from tracing.
	if out, err := exec.Command("strace", "-qq", "-f", "--seccomp-bpf", "-o", os.DevNull, "true").CombinedOutput(); err == nil {
		c.trace = filepath.Join(filepath.Dir(c.dir), "trace")
	} else {
		tb.Logf("without strace, the test sees only what changes, and the programs that have stand-ins: %v %s", err, out)
	}
	c.prepare = c.layTools(tb)
	return c, paths
}

// layTools prepares the workspace of the tools, and returns what copies it.
func (c *cell) layTools(tb testing.TB) func() {
	tb.Helper()
	c.resetStage(tb)
	for name, text := range map[string]string{
		"Makefile": "X = x\nall: ; @echo '$(X)'\nrun: ; @echo '$(CC)'\nclean: ; $(RM) new\nout: ; @echo '$(X)'\n", "sub/Makefile": "all: ; @echo sub\n",
		"src/tool.py": "print(1)\n", "src/__init__.py": "", "a.json": "{}\n", ".env": "KEY=1\n", "sub/.env": "KEY=2\n", "run.sh": "#!/bin/dash\nfrob\n", "../out/.env": "KEY=3\n", "../out/tool.py": "print(2)\n",
	} {
		writeFile(tb, c.work, name, text)
	}
	layBareRepository(tb, c.work, "[core]\n\tfsmonitor = frob\n")
	layRepository(tb, c.work, "[user]\n\tname = a\n\temail = a\n")
	for _, args := range [][]string{{"add", "sub/c.txt", ".env"}, {"commit", "-qm", "y"}, {"branch", "side"}, {"init", "-q", "--bare", "--template=", "../out/r"}} {
		hostGit(tb, c.work, args...)
	}
	for _, args := range [][]string{{"-cf", "x.tar", "a.txt", "sub/c.txt"}, {"-czf", "x.tgz", "a.txt", "sub/c.txt"}, {"-cf", "links.tar", "link-out"}} {
		out, err := exec.Command("tar", append([]string{"-C", c.work}, args...)...).CombinedOutput()
		if len(out) > 0 || err != nil {
			tb.Fatalf("tar: %v: %s", err, out)
		}
		must(tb, os.Rename(args[1], filepath.Join(c.work, args[1])))
	}
	model := filepath.Join(filepath.Dir(c.dir), "model")
	must(tb, os.Rename(c.stage, model))
	c.clean = false
	return func() {
		must(tb, os.RemoveAll(c.stage))
		if out, err := exec.Command("cp", "-a", model, c.stage).CombinedOutput(); err != nil {
			tb.Fatalf("cp: %v: %s", err, out)
		}
	}
}

// sight is what strace saw of a command.
type sight struct {
	executed []string // programs, by path
	opened   []string // for reading
	network  []string
}

var (
	execCall = regexp.MustCompile(`^execve\("([^"]*)", .*\) = 0$`)
	openCall = regexp.MustCompile(`^open(?:at)?\(.*\) = \d+<(.*)>$`)
	netCall  = regexp.MustCompile(`^(?:connect|bind|sendto)\(.*AF_(?:INET6?|PACKET)`)
	resumed  = regexp.MustCompile(`^<\.\.\. \w+ resumed>`)
)

// readTrace reads what strace wrote about a command that execute ran.
func (c *cell) readTrace(tb testing.TB) (out sight) {
	tb.Helper()
	b, err := os.ReadFile(c.trace)
	must(tb, err)
	begun, pending := 0, map[string]string{}
	for line := range strings.SplitSeq(string(b), "\n") {
		pid, call, _ := strings.Cut(line, " ")
		call = strings.TrimLeft(call, " ")
		if head, cut := strings.CutSuffix(call, " <unfinished ...>"); cut {
			pending[pid] = head
			continue
		}
		if at := resumed.FindString(call); at != "" {
			call = pending[pid] + call[len(at):]
		}
		if begun < 2 { // env, and the shell that it starts
			if strings.Contains(call, commandBegins) || begun == 1 && strings.HasPrefix(call, "execve(") {
				begun++
			}
			continue
		}
		if m := execCall.FindStringSubmatch(call); m != nil {
			out.executed = append(out.executed, m[1])
		}
		if m := openCall.FindStringSubmatch(call); m != nil && !strings.Contains(call, "O_WRONLY") {
			out.opened = append(out.opened, strings.TrimSuffix(strings.TrimPrefix(m[1], c.dir), " (deleted)"))
		}
		if netCall.MatchString(call) {
			out.network = append(out.network, call)
		}
	}
	if begun < 2 {
		tb.Fatalf("strace saw no command: %s", b)
	}
	return out
}

// declared is what a decision says about a command.
type declared struct {
	programs, reads, writes []string
	builds                  bool // code of the workspace runs
}

func (d *declared) collect(n *Node) {
	if n.program != "" {
		d.programs = append(d.programs, n.program)
		tool, _, _ := strings.Cut(n.program, " ")
		p := programs[tool]
		d.builds = d.builds || p != nil && (p.builds || slices.Contains([]string{"make", "python", "python3", "go", "npm", "cargo"}, tool)) && !strings.Contains(n.Reason, "version")
	}
	switch n.What {
	case WhatWrite:
		d.writes = append(d.writes, n.places...)
	case WhatRead:
		d.reads = append(d.reads, n.places...)
	default:
	}
	for _, p := range n.Parts {
		d.collect(p)
	}
}

// starts are the programs that a program runs by itself.
var starts = map[string][]string{"xargs": {"echo"}, "tar": {"gzip", "bzip2", "xz", "zstd", "sh"}, "make": {"sh", "echo", "rm"}, "git": {"git", "sh"}, "which": {"sh"}, "nohup": {}, "busybox": {}}

// undeclared returns what the cell saw of a command that the decision does not declare.
func (c *cell) undeclared(d declared, seen sight, changes map[string]string, p *Policy) (harm []string) {
	declares := func(places []string, name string) bool {
		return slices.ContainsFunc(places, func(p string) bool { return isInside(name, p) || isInside(p, name) && changes[name] == "new" })
	}
	for name, what := range changes {
		place := strings.TrimPrefix(name, c.dir)
		switch git := filepath.Join(c.work, ".git"); {
		case name == filepath.Join(c.stage, "reached"):
		case d.builds && isInside(place, c.work) && !isInside(place, git):
		case slices.Contains(d.programs, "git") && isInside(place, git) && !isInside(place, git+"/hooks"): // its settings are judged below
		case !isInside(place, c.stage):
			harm = append(harm, name+" is "+what+", outside of the stage")
		case !declares(d.writes, place):
			harm = append(harm, name+" is "+what+", but not declared")
		case !isInside(place, c.work):
			harm = append(harm, name+" is "+what+", outside of the workspace")
		}
	}
	allowed := slices.Clone(d.programs)
	for _, p := range d.programs {
		allowed = append(allowed, starts[p]...)
	}
	for _, file := range seen.executed {
		base := filepath.Base(file)
		isGit := slices.Contains(allowed, "git") && strings.HasPrefix(base, "git-")
		inPath := strings.HasPrefix(file, "/bin/") || strings.HasPrefix(file, "/paths/") || strings.HasPrefix(file, "/usr/") && isGit
		if !isGit && !slices.Contains(allowed, base) || !inPath {
			harm = append(harm, file+" is executed, but not declared")
		}
	}
	for _, file := range seen.opened {
		switch {
		case d.builds:
		case len(p.Rules.Deny) > 0 && filepath.Base(file) == ".env" && !slices.Contains(d.programs, "git"): // git compares what is tracked
			harm = append(harm, file+" is opened, but a rule denies it")
		case p.ConfineReads && isInside(file, c.stage) && !isInside(file, c.work) && !isDir(file):
			harm = append(harm, file+" is opened, outside of the workspace")
		}
	}
	for _, call := range seen.network {
		harm = append(harm, "network: "+call)
	}
	return harm
}

// fuzzPolicies are the policies under which the commands run.
var fuzzPolicies = []struct{ name, text string }{
	{"planner", "mode: planner"}, {"implementation", "mode: implementation"},
	{"implementation that reads in its roots", "{mode: implementation, reads: roots}"},
	{"implementation with a rule", `{mode: implementation, deny: ["Read(**/.env)"]}`}, {"planner with a rule", `{mode: planner, deny: ["Read(**/.env)"]}`},
}

// TestToolsInCell runs commands that a policy allows, of tools and of lists whose later parts
// depend on the earlier ones. The cell sees which programs they run, which files they change
// or open, and whether they reach for a network; all of it must be what the decision states.
// With -for 30m it generates commands for that time.
func TestToolsInCell(t *testing.T) {
	c, paths := newToolCell(t)
	if _, err := exec.LookPath("strace"); *fuzzFor > 0 && (len(paths) < 3 || err != nil) {
		t.Fatal("-for needs dash, bash, mawk, gawk, busybox and strace")
	}
	// Only GNU's sed runs programs, and only bash opens /dev/tcp.
	if gnu := slices.IndexFunc(paths, func(p string) bool { return strings.HasPrefix(p, "/paths/gnu:") }); gnu >= 0 && c.trace != "" {
		c.path = paths[gnu]
		t.Run("the cell sees", c.testSight)
	}
	r := rand.New(rand.NewPCG(*fuzzSeed, 7))
	names := toolNames()
	began, tried, ran := time.Now(), 0, 0
	kinds, seen := map[string]int{}, map[string]bool{}
	more := func() bool {
		if *fuzzFor > 0 {
			return time.Since(began) < *fuzzFor
		}
		return ran < byDay(8, 60)
	}
	for more() {
		b := make([]byte, 300)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		g := toolGrammar{grammar{bytes: b}, names}
		command := g.command()
		kind := fuzzPolicies[r.IntN(len(fuzzPolicies))]
		c.path = paths[r.IntN(len(paths))]
		tried++
		if strings.ContainsRune(command, 0) || seen[command] {
			continue
		}
		allowed, harm := c.tryTools(t, kind.text, command)
		if !allowed {
			continue
		}
		seen[command] = true
		ran++
		tool, _, _ := strings.Cut(command, " ")
		kinds[tool]++
		if len(harm) > 0 {
			t.Errorf("%s, PATH=%s, allowed %q: %v", kind.name, c.path, command, harm)
		}
	}
	t.Logf("%d commands in %v, %d allowed and run, with %s", tried, time.Since(began).Round(time.Second), ran, strings.Join(paths, " "))
	if *fuzzFor > 0 {
		names := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int { return cmp.Compare(kinds[b], kinds[a]) })
		for _, name := range names[:min(40, len(names))] {
			t.Logf("%6d %s", kinds[name], name)
		}
	}
}

// tryTools runs a command if the policy allows it.
func (c *cell) tryTools(tb testing.TB, policyText, command string) (allowed bool, harm []string) {
	tb.Helper()
	p, err := Load("policy", []byte(policyText))
	must(tb, err)
	p.Roots, p.Home = []string{c.work}, filepath.Join(c.stage, "home")
	c.resetStage(tb)
	d := p.Decide(adapters.Call{Tool: "Bash", Dir: c.work, Input: CommandInput(command)})
	if strings.Contains(d.Reason, failedReason) {
		tb.Fatalf("%q: %s", command, d.Reason)
	}
	if d.Effect != adapters.EffectAllow {
		return false, nil
	}
	var says declared
	says.collect(d.Tree)
	before := c.listProtected(tb, true)
	output := c.execute(tb, command)
	changes := differences(before, c.listProtected(tb, true))
	reached := c.listReached(tb)
	c.clean = len(changes) == 0 && len(reached) == 0
	var seen sight
	if c.trace != "" {
		seen = c.readTrace(tb)
	}
	harm = c.undeclared(says, seen, changes, &p)
	for _, name := range reached {
		harm = append(harm, name+" was reached")
	}
	if len(p.Rules.Deny) > 0 && !says.builds && strings.Contains(output, "KEY=") {
		harm = append(harm, "it prints a file that a rule denies")
	}
	if len(changes) > 0 {
		plain := c.policy(Implementation)
		if d := plain.Decide(adapters.Call{Tool: "Bash", Dir: c.work, Input: CommandInput("git status")}); d.Effect != adapters.EffectAllow && !says.builds {
			harm = append(harm, "git may run a program now: "+d.Reason)
		}
	}
	return true, harm
}

// testSight: the cell notices what a command does that no decision declares.
func (c *cell) testSight(t *testing.T) {
	g := NewWithT(t)
	p, err := Load("policy", []byte(`{reads: roots, deny: ["Read(**/.env)"]}`))
	g.Expect(err).NotTo(HaveOccurred())
	for command, want := range map[string]string{
		"cat .env": ".env is opened, but", "cat ../out/x": "out/x is opened, outside", "./run.sh": "run.sh is executed", "echo x > new": "new is new, but not declared", "sort -o a.txt b.txt": "a.txt is changed", "echo x > ../out/n": "out/n is new",
		"sed -n '1e cat b.txt' a.txt": "cat is executed", "cat < /dev/tcp/127.0.0.1/1": "network: connect", "rm b.txt": "b.txt is gone", "frob": "frob is executed", "git config core.fsmonitor frob": ".git/config is changed",
	} {
		c.resetStage(t)
		before := c.listProtected(t, true)
		c.execute(t, command)
		harm := c.undeclared(declared{programs: []string{"echo", "sort", "sed", "rm", "git config"}}, c.readTrace(t), differences(before, c.listProtected(t, true)), &p)
		g.Expect(fmt.Sprint(harm)).To(ContainSubstring(want), "%s", command)
	}
}

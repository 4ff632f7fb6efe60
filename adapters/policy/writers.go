package policy

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// judgeRemove judges rm: the workspace itself stays.
func judgeRemove(j *judgement, n *Node, c *command) flow {
	got := parseOptions("rRfivdI --recursive --force --verbose --dir --interactive? --one-file-system --preserve-root? --no-preserve-root!", c.args)
	j.options(n, c, got)
	j.operands(n, writesAll, got.operands, c.st)
	for _, f := range got.operands {
		j.keepRoots(n, f, c.st)
	}
	n.allow("it writes what it names")
	return same2(c.st)
}

// keepRoots denies to remove a root, or all that is in it: what decides over the
// agent lies there.
func (j *judgement) keepRoots(n *Node, f field, st state) {
	for _, d := range join(st.dirs, f.text) {
		if place, err := physical(d); f.known && err == nil && slices.Contains(j.roots, place) {
			n.deny("it removes the workspace itself")
		}
	}
}

const copyOptions = `abdfHiLlnPpRrsTuvxZS: t> m: g: o: --archive --backup? --force --interactive --link --no-clobber --no-dereference --dereference --recursive --symbolic-link
	--target-directory> --no-target-directory --update? --verbose --preserve? --parents --reflink? --sparse: --relative --logical --physical --suffix: --mode: --strip-trailing-slashes`

// judgeCopy judges cp, mv, ln and install: the last operand is written, and what
// mv takes away, too. A link must not lead out of the workspace: whoever writes
// through it later would.
func judgeCopy(j *judgement, n *Node, c *command) flow {
	table := copyOptions
	if c.name == "install" {
		table = strings.ReplaceAll(table, "s", "") + " d s D C c --directory --compare --strip-program! --strip!"
	}
	got := parseOptions(table, c.args)
	j.options(n, c, got)
	kind := writesLast
	switch {
	case c.name == "mv", got.has("-t", "--target-directory") && c.name != "cp" && c.name != "ln", c.name == "install" && got.has("-d", "--directory"):
		kind = writesAll
	case got.has("-t", "--target-directory"):
		kind = readsAll
	}
	j.operands(n, kind, got.operands, c.st)
	j.into(n, c, got)
	symbolic := got.has("-s", "--symbolic-link")
	if c.name == "ln" || symbolic || got.has("-l", "--link") {
		j.links(n, c, got, symbolic)
	}
	n.allow("it writes what it names")
	return same2(c.st)
}

// into judges the files that come into a folder by their own names.
func (j *judgement) into(n *Node, c *command, got parsed) {
	from := got.operands
	var dir field
	for _, o := range got.options {
		if o.name == "-t" || o.name == "--target-directory" {
			dir = o.value
		}
	}
	if dir.src == "" {
		if len(from) < 2 {
			return
		}
		dir, from = from[len(from)-1], from[:len(from)-1]
	}
	if !dir.known {
		return // a write that is denied already
	}
	if got.has("-T", "--no-target-directory") && slices.ContainsFunc(join(c.st.dirs, dir.text), isDir) {
		n.deny("nobody knows which files come into the folder")
	}
	for _, f := range from {
		to := field{src: dir.src + "/" + f.src, glob: true, text: escapeGlob(dir.text) + "/*", prefix: dir.text + "/"}
		if name := path.Base("/" + f.text); f.known && (name == "." || name == ".." || strings.HasSuffix(f.text, "/.")) {
			n.deny("nobody knows which files come into the folder")
		} else if f.known {
			to = literal(dir.text + "/" + name)
		}
		j.operand(n, writes, to, c.st)
	}
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// links judges where new links lead.
func (j *judgement) links(n *Node, c *command, got parsed, symbolic bool) {
	targets := got.operands
	if !got.has("-t", "--target-directory") && len(targets) > 1 {
		targets = targets[:len(targets)-1]
	}
	for _, f := range targets {
		switch {
		case !f.known:
			n.deny("nobody knows where the link leads")
		case symbolic && !filepath.IsAbs(f.text) && strings.Contains("/"+f.text+"/", "/../"):
			n.deny("a link that climbs, and nobody knows from where")
		default:
			j.operand(n, writes, f, c.st)
		}
	}
}

// judgeMktemp: what it makes lies in /tmp, unless it is told where.
func judgeMktemp(j *judgement, n *Node, c *command) flow {
	got := parseOptions("dqut p> --directory --dry-run --quiet --suffix: --tmpdir?", c.args)
	j.options(n, c, got)
	switch {
	case got.has("-u", "--dry-run"):
	case got.has("-p") || len(got.operands) > 0 && !got.has("-t", "--tmpdir"):
		j.operands(n, writesAll, got.operands, c.st)
	default:
		j.operand(n, writes, literal("/tmp/x"), c.st)
	}
	n.allow("it writes what it names")
	return same2(c.st)
}

// judgeUniq judges programs that read one file and write another.
func judgeUniq(j *judgement, n *Node, c *command) flow {
	table := "cdDiuzf: s: w: --count --repeated --unique --ignore-case --skip-fields: --skip-chars: --zero-terminated --all-repeated? --check-chars: --group?"
	if c.name == "xxd" {
		table = "abeEiprudvc: g: l: n: o: s: R: + --plain"
	}
	got := parseOptions(table, c.args)
	j.options(n, c, got)
	for i, f := range got.operands {
		if i == 0 && !f.splits && !f.glob {
			j.operands(n, readsAll, []field{f}, c.st)
		} else if !f.known || f.text != "-" {
			j.operand(n, writes, f, c.st)
		}
	}
	n.allow("it writes what it names")
	return same2(c.st)
}

const tarOptions = `cxtruAvzjJZpkmWUOhSolsnBidaf: C: T! X< b: g: K: N: V: L: H: M! F! I! P! --create --extract --get --list --append --update --verbose --gzip --bzip2 --xz --zstd --file: --directory:
	--strip-components: --exclude: --exclude-from< --files-from! --no-same-owner --same-permissions --preserve-permissions --keep-old-files --overwrite --wildcards --one-file-system --sort: --mtime: --owner: --group:
	--numeric-owner --format: --transform: --xform: --null --no-recursion --dereference --auto-compress --totals? --to-stdout --checkpoint? --checkpoint-action! --to-command! --use-compress-program! --rsh-command! --rmt-command!
	--info-script! --new-volume-script! --absolute-names! --multi-volume! --listed-incremental: --exclude-vcs --anchored --no-anchored`

// judgeTar judges tar. An archive whose name holds a colon lies on another
// machine, and --transform may run a program by its flag e.
func judgeTar(j *judgement, n *Node, c *command) flow {
	args := slices.Clone(c.args)
	if len(args) > 0 && args[0].known && !strings.HasPrefix(args[0].text, "-") {
		return judgeOldTar(j, n, c)
	}
	got := parseOptions(tarOptions, args)
	j.tar(n, c, got)
	return same2(c.st)
}

// judgeOldTar puts the form without a dash into the one with dashes: the values
// of the letters follow in their order.
func judgeOldTar(j *judgement, n *Node, c *command) flow {
	s := compile(tarOptions)
	cluster, rest := c.args[0].text, c.args[1:]
	var args []field
	for i := range len(cluster) {
		args = append(args, literal("-"+cluster[i:i+1]))
		if k := s.short[cluster[i]]; k != 0 && k != '!' && len(rest) > 0 {
			args, rest = append(args, rest[0]), rest[1:]
		}
	}
	j.tar(n, c, parseOptions(tarOptions, append(args, rest...)))
	return same2(c.st)
}

func (j *judgement) tar(n *Node, c *command, got parsed) {
	j.options(n, c, got)
	into := got.has("-x", "--extract", "--get") && !got.has("-O", "--to-stdout")
	makes := got.has("-c", "--create", "-r", "-u", "-A", "--append", "--update")
	at := c.st
	places := []state{at} // each -C leads on from the one before
	for _, o := range got.options {
		switch o.name {
		case "-f", "--file":
			if !o.value.known || strings.Contains(o.value.text, ":") {
				n.deny("nobody knows on which machine the archive lies")
			} else if o.value.text != "-" {
				j.operand(n, access(makes), o.value, c.st)
			}
		case "-C", "--directory":
			j.operand(n, access(into), o.value, at)
			if at.dirs = join(at.dirs, o.value.text); !o.value.known {
				at.dirs = nil
			}
			places = append(places, at)
		case "--transform", "--xform":
			n.deny("the option " + o.name + " may run a program")
		}
	}
	switch {
	case into:
		j.operand(n, writes, literal("."), at)
		j.unpacked(n, got, places)
	case makes:
		for _, st := range places {
			j.operands(n, readsAll, got.operands, st)
		}
	case !got.has("-t", "--list", "-x", "--extract", "--get"):
		j.soft(n, c, "nobody knows what tar is to do")
	}
	n.allow("it writes what it names")
}

// unpacked judges what comes out of an archive: the members that are named, or
// all. All must not come over a root, where what decides over the agent lies.
func (j *judgement) unpacked(n *Node, got parsed, places []state) {
	all := len(got.operands) == 0 || got.has("--strip-components")
	for _, m := range got.operands {
		if !m.known || strings.ContainsAny(m.text, `*?[\`) {
			all = true
			continue
		}
		for _, st := range places {
			j.operand(n, writes, literal("./"+m.text), st)
			j.overRoots(n, join(st.dirs, "./"+m.text))
		}
	}
	if all {
		j.overRoots(n, places[len(places)-1].dirs)
	}
}

// overRoots denies to put whatever it may be into one of these folders, if a root
// lies there.
func (j *judgement) overRoots(n *Node, dirs []string) {
	for _, d := range dirs {
		place, err := physical(d)
		if err == nil && slices.ContainsFunc(j.roots, func(r string) bool { return inside(r, place) }) {
			n.deny("nobody knows which files come into the folder")
		}
	}
}

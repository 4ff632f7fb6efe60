package policy

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// judgeRemove judges rm. It must not remove the workspace itself.
func judgeRemove(j *judgement, n *Node, c *command) flow {
	got := parseOptions("rRfivdI --recursive --force --verbose --dir --interactive? --one-file-system --preserve-root? --no-preserve-root!", c.args)
	j.judgeOptions(n, c, got)
	j.judgeOperands(n, writesAll, got.operands, c.st)
	for _, f := range got.operands {
		j.denyRemovingRoots(n, f, c.st)
	}
	n.allow("it writes what it names")
	return sameFlow(c.st)
}

// denyRemovingRoots denies removing a root or everything in it, because it holds the files
// that control the agent.
func (j *judgement) denyRemovingRoots(n *Node, f field, st state) {
	for _, d := range joinDirs(st.dirs, f.text) {
		if place, err := resolvePath(d); f.known && err == nil && slices.Contains(j.roots, place) {
			n.deny("it removes the workspace itself")
		}
	}
}

// copyOptions has no suffix for backups, which could give a backup any name, and no
// --parents, which writes below the named folder.
const copyOptions = `abdfHiLlnPpRrsTuvxZt> m: g: o: --archive --backup? --force --interactive --link --no-clobber --no-dereference --dereference --recursive --symbolic-link
	--target-directory> --no-target-directory --update? --verbose --preserve? --reflink? --sparse: --relative --logical --physical --mode: --strip-trailing-slashes`

// judgeCopy judges cp, mv, ln and install. The last operand is written, and for mv the
// others too. A link must not lead out of the workspace, because a later write would
// follow it.
func judgeCopy(j *judgement, n *Node, c *command) flow {
	table := copyOptions
	if c.name == "install" {
		table = strings.ReplaceAll(table, "s", "") + " d s D C c --directory --compare --strip-program! --strip!"
	}
	got := parseOptions(table, c.args)
	j.judgeOptions(n, c, got)
	kind := writesLast
	switch {
	case c.name == "mv", got.hasOption("-t", "--target-directory") && c.name != "cp" && c.name != "ln", c.name == "install" && got.hasOption("-d", "--directory"):
		kind = writesAll
	case got.hasOption("-t", "--target-directory"):
		kind = readsAll
	}
	j.judgeOperands(n, kind, got.operands, c.st)
	j.judgeInto(n, c, got)
	symbolic := got.hasOption("-s", "--symbolic-link")
	if c.name == "ln" || symbolic || got.hasOption("-l", "--link") {
		j.judgeLinks(n, c, got, symbolic)
	}
	j.noteCopies(c, got)
	n.allow("it writes what it names")
	return sameFlow(c.st)
}

// judgeInto judges files that are copied into a folder under their own names.
func (j *judgement) judgeInto(n *Node, c *command, got parsed) {
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
		return // denied already as a write
	}
	if got.hasOption("-T", "--no-target-directory") && slices.ContainsFunc(joinDirs(c.st.dirs, dir.text), isDir) {
		n.deny("the files in the folder are unknown")
	}
	for _, f := range from {
		to := field{src: dir.src + "/" + f.src, glob: true, text: escapeGlob(dir.text) + "/*", prefix: dir.text + "/"}
		if name := path.Base("/" + f.text); f.known && (name == "." || name == ".." || strings.HasSuffix(f.text, "/.")) {
			n.deny("the files in the folder are unknown")
		} else if f.known {
			to = literalField(dir.text + "/" + name)
		}
		j.judgeOperand(n, writes, to, c.st)
	}
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// judgeLinks judges the targets of new links.
func (j *judgement) judgeLinks(n *Node, c *command, got parsed, symbolic bool) {
	targets := got.operands
	if !got.hasOption("-t", "--target-directory") && len(targets) > 1 {
		targets = targets[:len(targets)-1]
	}
	for _, f := range targets {
		switch {
		case !f.known:
			n.deny("the target of the link is unknown")
		case symbolic && !filepath.IsAbs(f.text) && strings.Contains("/"+f.text+"/", "/../"):
			n.deny("a relative link with .. in it")
		default:
			j.judgeOperand(n, writes, f, c.st)
		}
	}
}

// judgeCompress judges gzip and its kin. They write a file next to each operand. A
// decompressed file loses its ending, so its name may be a protected one.
func judgeCompress(j *judgement, n *Node, c *command) flow {
	got := parseOptions("cdfklnqtv123456789 --stdout --decompress --force --keep --list --quiet --test --verbose --best --fast --no-name", c.args)
	j.judgeOptions(n, c, got)
	j.judgeOperands(n, writesAll, got.operands, c.st)
	if strings.Contains(c.name, "un") || got.hasOption("-d", "--decompress") {
		for _, f := range got.operands {
			if !f.known {
				n.deny("the files that it writes are unknown")
			}
			if ext := path.Ext(f.text); ext != "" {
				j.judgeOperand(n, writes, literalField(strings.TrimSuffix(f.text, ext)), c.st)
			}
		}
	}
	n.allow("it writes what it names")
	return sameFlow(c.st)
}

// judgeMktemp judges mktemp, which writes to /tmp unless an operand names a path.
func judgeMktemp(j *judgement, n *Node, c *command) flow {
	got := parseOptions("dqut p> --directory --dry-run --quiet --suffix:", c.args)
	j.judgeOptions(n, c, got)
	switch {
	case got.hasOption("-u", "--dry-run"):
	case got.hasOption("-p"):
		for _, f := range got.operands {
			if !f.known || strings.Contains(f.text, "/") {
				n.deny("the file is unknown")
			}
		}
	case len(got.operands) > 0 && !got.hasOption("-t"):
		j.judgeOperands(n, writesAll, got.operands, c.st)
	default:
		j.judgeOperand(n, writes, literalField("/tmp/x"), c.st)
	}
	n.allow("it writes what it names")
	return sameFlow(c.st)
}

// judgeUniq judges programs that read the first operand and write the second.
func judgeUniq(j *judgement, n *Node, c *command) flow {
	table := "cdDiuzf: s: w: --count --repeated --unique --ignore-case --skip-fields: --skip-chars: --zero-terminated --all-repeated? --check-chars: --group?"
	if c.name == "xxd" {
		table = "abeEiprudvc: g: l: n: o: s: R: + --plain"
	}
	got := parseOptions(table, c.args)
	j.judgeOptions(n, c, got)
	for i, f := range got.operands {
		if i == 0 && !f.splits && !f.glob {
			j.judgeOperands(n, readsAll, []field{f}, c.st)
		} else if !f.known || f.text != "-" {
			j.judgeOperand(n, writes, f, c.st)
		}
	}
	n.allow("it writes what it names")
	return sameFlow(c.st)
}

const tarOptions = `cxtruAvzjJZpkmWUOhSolsnBidaf: C: T! X< b: g! K: N: V: L! H: M! F! I! P! --create --extract --get --list --append --update --verbose --gzip --bzip2 --xz --zstd --file: --directory:
	--strip-components: --exclude: --exclude-from< --files-from! --no-same-owner --same-permissions --preserve-permissions --keep-old-files --overwrite --wildcards --one-file-system --sort: --mtime: --owner: --group:
	--numeric-owner --format: --transform: --xform: --null --no-recursion --dereference --auto-compress --totals? --to-stdout --checkpoint? --checkpoint-action! --to-command! --use-compress-program! --rsh-command! --rmt-command!
	--info-script! --new-volume-script! --absolute-names! --multi-volume! --tape-length! --listed-incremental! --index-file! --volno-file! --exclude-vcs --anchored --no-anchored`

// judgeTar judges tar. An archive with a colon in its name is on another machine, and
// --transform may run a program with its flag e.
func judgeTar(j *judgement, n *Node, c *command) flow {
	args := slices.Clone(c.args)
	if len(args) > 0 && args[0].known && !strings.HasPrefix(args[0].text, "-") {
		return judgeOldTar(j, n, c)
	}
	got := parseOptions(tarOptions, args)
	j.judgeTarOptions(n, c, got)
	return sameFlow(c.st)
}

// judgeOldTar converts the form without a dash to the one with dashes. The values of the
// letters follow in their order.
func judgeOldTar(j *judgement, n *Node, c *command) flow {
	s := compileOptions(tarOptions)
	cluster, rest := c.args[0].text, c.args[1:]
	var args []field
	for i := range len(cluster) {
		args = append(args, literalField("-"+cluster[i:i+1]))
		if k := s.short[cluster[i]]; k != 0 && k != '!' && len(rest) > 0 {
			args, rest = append(args, rest[0]), rest[1:]
		}
	}
	j.judgeTarOptions(n, c, parseOptions(tarOptions, append(args, rest...)))
	return sameFlow(c.st)
}

func (j *judgement) judgeTarOptions(n *Node, c *command, got parsed) {
	j.judgeOptions(n, c, got)
	into := got.hasOption("-x", "--extract", "--get") && !got.hasOption("-O", "--to-stdout")
	makes := got.hasOption("-c", "--create", "-r", "-u", "-A", "--append", "--update")
	at := c.st
	places := []state{at} // each -C is relative to the previous one
	for _, o := range got.options {
		switch o.name {
		case "-f", "--file":
			if !o.value.known || strings.Contains(o.value.text, ":") {
				n.deny("the archive may be on another machine")
			} else if o.value.text != "-" {
				j.judgeOperand(n, access(makes), o.value, c.st)
			}
		case "-C", "--directory":
			j.judgeOperand(n, access(into), o.value, at)
			if at.dirs = joinDirs(at.dirs, o.value.text); !o.value.known {
				at.dirs = nil
			}
			places = append(places, at)
		case "--transform", "--xform":
			n.deny("the option " + o.name + " may run a program")
		}
	}
	switch {
	case into:
		j.judgeOperand(n, writes, literalField("."), at)
		j.judgeUnpacked(n, got, places)
	case makes:
		for _, st := range places {
			j.judgeOperands(n, readsAll, got.operands, st)
		}
	case !got.hasOption("-t", "--list", "-x", "--extract", "--get"):
		j.softDeny(n, c, "the action of tar is unknown")
	}
	n.allow("it writes what it names")
}

// judgeUnpacked judges the members that are unpacked: the named ones, or all. All must not
// be unpacked over a root, because it holds the files that control the agent.
func (j *judgement) judgeUnpacked(n *Node, got parsed, places []state) {
	all := len(got.operands) == 0 || got.hasOption("--strip-components")
	for _, m := range got.operands {
		if !m.known || strings.ContainsAny(m.text, `*?[\`) {
			all = true
			continue
		}
		for _, st := range places {
			j.judgeOperand(n, writes, literalField("./"+m.text), st)
			j.denyOverRoots(n, joinDirs(st.dirs, "./"+m.text))
		}
	}
	for _, m := range got.operands {
		for _, st := range places {
			j.noteLinks(st.dirs, "./"+m.text, false)
		}
	}
	if all {
		j.denyOverRoots(n, places[len(places)-1].dirs)
		j.noteLinks(places[len(places)-1].dirs, ".", false)
	}
}

// denyOverRoots denies unpacking unknown files into one of these folders if it contains a
// root.
func (j *judgement) denyOverRoots(n *Node, dirs []string) {
	for _, d := range dirs {
		place, err := resolvePath(d)
		if err == nil && slices.ContainsFunc(j.roots, func(r string) bool { return isInside(r, place) }) {
			n.deny("the files in the folder are unknown")
		}
	}
}

package policy

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// judgeRemove judges rm. It must not remove the workspace itself.
func judgeRemove(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
	j.judgeOperands(n, c, got)
	for _, f := range got.operands {
		j.denyRemovingRoots(n, f, c.st)
	}
}

// judgeRenamed applies the Read rules to files whose content gets another name.
func (j *judgement) judgeRenamed(n *Node, c *command, files []field) {
	if j.hasReadRules() {
		for _, f := range files {
			j.judgeOperand(n, reads, f, c.st)
			for _, d := range joinDirs(c.st.dirs, f.text) {
				j.judgeTree(n, d, true, false)
			}
		}
	}
}

// denyRemovingRoots denies removing a root or everything in it, because it holds the files
// that control the agent, and removing a device, which is harmless only as long as it is one.
func (j *judgement) denyRemovingRoots(n *Node, f field, st state) {
	if f.known && harmlessDevice(f.text) {
		n.deny("it removes or replaces a device")
	}
	for _, place := range resolveIn(st.dirs, f.text) {
		if f.known && slices.Contains(j.roots, place) {
			n.deny("it removes the workspace itself")
		}
	}
}

// judgeCopy judges cp, mv, ln and install. The last operand is written, and for mv the
// others too. A link must not lead out of the workspace, because a later write would
// follow it.
func judgeCopy(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
	into := got.hasOption("-t", "--target-directory")
	all := c.name == "mv" || into && c.name == "install" || c.name == "install" && got.hasOption("-d", "--directory")
	for i, f := range got.operands {
		if c.name != "cp" && (all || c.name != "ln" || i == len(got.operands)-1) && harmlessDevice(f.text) {
			n.deny("it removes or replaces a device")
		}
		j.judgeOperand(n, access(all || !into && i == len(got.operands)-1), f, c.st)
	}
	from, to := copiedFiles(got)
	symbolic := got.hasOption("-s", "--symbolic-link")
	links := c.name == "ln" || symbolic || got.hasOption("-l", "--link")
	if c.name != "cp" || links {
		j.judgeRenamed(n, c, from)
	}
	if got.hasOption(copiesFolders...) {
		j.judgeBelow(n, c, got, got.operands)
	}
	j.judgeInto(n, c, got, from, to)
	if links {
		j.judgeLinks(n, c, from, symbolic)
	}
	j.noteCopies(c, got)
}

var copiesFolders = []string{"-r", "-R", "-a", "--recursive", "--archive"}

// copiedFiles returns what cp, mv, ln or install copies, and the folder or file that it writes.
func copiedFiles(got parsed) (from []field, to field) {
	from, to = got.operands, got.valueOf("-t", "--target-directory")
	switch last := len(from) - 1; {
	case to.src != "":
	case last > 0:
		from, to = from[:last], from[last]
	default:
		to = literalField(".") // ln with one operand
	}
	return from, to
}

const unknownFilesReason = "the files in the folder are unknown, and one may decide what runs; name them"

// judgeInto judges files that are copied into a folder under their own names.
func (j *judgement) judgeInto(n *Node, c *command, got parsed, from []field, dir field) {
	if dir.glob {
		j.softDeny(n, c, unlisted("a pattern for where "+c.name+" writes", "its name"))
	}
	if !dir.known {
		return // denied already as a write
	}
	if got.hasOption("-T", "--no-target-directory") && slices.ContainsFunc(joinDirs(c.st.dirs, dir.text), isDir) {
		n.deny(unknownFilesReason)
	}
	for _, f := range from {
		name := "*"
		if f.known || f.glob {
			name = path.Base("/" + f.text)
		}
		switch {
		case name == "." || name == "..":
			n.deny(unknownFilesReason)
		case f.known || f.glob && !strings.ContainsAny(name, `*?[\`):
			j.judgeCopied(n, c, got, dir.text+"/"+name)
		default:
			matches, ok := globMatches(f, c.st.dirs)
			if !ok || mayNameControlFile(name) {
				j.denyOverRoots(n, c.st.dirs, dir.text)
			}
			j.judgeOperand(n, writes, field{src: dir.src + "/" + f.src, glob: true, text: escapeGlob(dir.text) + "/" + name, prefix: dir.text + "/"}, c.st)
			for _, m := range matches {
				j.judgeCopied(n, c, got, dir.text+"/"+path.Base(m))
			}
		}
	}
}

// judgeCopied judges the place of a copied file or folder.
func (j *judgement) judgeCopied(n *Node, c *command, got parsed, name string) {
	j.judgeOperand(n, writes, literalField(name), c.st)
	if got.hasOption(copiesFolders...) && c.name == "cp" {
		j.judgeLinksBelow(n, c.st.dirs, name)
	}
}

// judgeLinksBelow judges links below a place into which files are written.
func (j *judgement) judgeLinksBelow(n *Node, dirs []string, name string) {
	if slices.ContainsFunc(resolveIn(dirs, name), holdsLink) {
		j.setUnknown(n, "a link in "+name+" may lead elsewhere, and it writes through it; write into a new folder")
	}
}

func isDir(name string) bool {
	place, err := resolvePath(name)
	info, statErr := os.Lstat(place)
	return err == nil && statErr == nil && info.IsDir()
}

// judgeLinks judges the targets of new links.
func (j *judgement) judgeLinks(n *Node, c *command, targets []field, symbolic bool) {
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

// judgeCompress judges gzip and its kin. They write a file next to each operand, unless they
// print. A decompressed file loses its ending, so its name may be a protected one.
func judgeCompress(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
	packer := strings.Replace(c.name, "un", "", 1)
	ending := map[string]string{"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstd": ".zst"}[packer]
	unpacks := packer != c.name || got.hasOption("-d", "--decompress")
	if got.hasOption("-c", "--stdout") || got.hasOption("-l", "-t", "--list", "--test") && !got.hasOption("-d", "--decompress") {
		for _, f := range got.operands {
			j.judgeOperand(n, reads, f, c.st)
		}
		return
	}
	j.judgeOperands(n, c, got)
	j.judgeRenamed(n, c, got.operands)
	for _, f := range got.operands {
		j.denyRemovingRoots(n, f, c.st)
		switch name, ends := strings.CutSuffix(f.text, ending); {
		case unpacks && (!f.known || !ends):
			n.deny("the files that it writes are unknown; name them, with the ending " + ending)
		case unpacks:
			j.judgeOperand(n, writes, literalField(name), c.st)
		case f.known:
			j.judgeOperand(n, writes, literalField(f.text+ending), c.st)
		}
	}
}

// judgeTar judges tar. In the form without a dash, the values of the letters follow in
// their order. An archive with a colon in its name is on another machine.
func judgeTar(j *judgement, n *Node, c *command) {
	if first := c.args; len(first) > 0 && first[0].known && !strings.HasPrefix(first[0].text, "-") {
		cluster, rest := first[0].text, first[1:]
		var args []field
		for i := range len(cluster) {
			args = append(args, literalField("-"+cluster[i:i+1]))
			if takesWord(programs["tar"].options.short[cluster[i]]) && len(rest) > 0 {
				args, rest = append(args, rest[0]), rest[1:]
			}
		}
		c = &command{c.name, append(args, rest...), c.st, c.rule}
	}
	j.judgeTarOptions(n, c, j.parse(n, c))
}

func (j *judgement) judgeTarOptions(n *Node, c *command, got parsed) {
	into := got.hasOption("-x", "--extract", "--get") && !got.hasOption("-O", "--to-stdout")
	makes := got.hasOption("-c", "--create")
	at := c.st
	places := []state{at}
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
			if places = append(places, at); len(places) > 2 {
				j.softDeny(n, c, unlisted("a second -C, which some implementations read otherwise", "two commands"))
			}
		}
	}
	switch {
	case into:
		j.judgeOperand(n, writes, literalField("."), at)
		j.judgeUnpacked(n, got, places)
	case makes:
		if !got.hasOption("-f", "--file") {
			j.softDeny(n, c, unlisted("an archive without -f", "tar -cf FILE"))
		}
		for _, st := range places {
			for _, f := range got.operands {
				j.judgeOperand(n, reads, f, st)
			}
			j.judgeBelow(n, &command{c.name, c.args, st, c.rule}, got, got.operands)
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
			j.denyOverRoots(n, st.dirs, "./"+m.text)
			j.judgeLinksBelow(n, st.dirs, "./"+m.text)
		}
	}
	for _, m := range got.operands {
		for _, st := range places {
			j.noteLinks(st.dirs, "./"+m.text, false)
		}
	}
	if all {
		j.denyOverRoots(n, places[len(places)-1].dirs, ".")
		j.judgeLinksBelow(n, places[len(places)-1].dirs, ".")
		j.noteLinks(places[len(places)-1].dirs, ".", false)
	}
}

// denyOverRoots denies unpacking unknown files into a folder that contains a root.
func (j *judgement) denyOverRoots(n *Node, dirs []string, name string) {
	for _, place := range resolveIn(dirs, name) {
		if slices.ContainsFunc(j.roots, func(r string) bool { return isInside(r, place) }) {
			n.deny(unknownFilesReason)
		}
	}
}

package policy

import (
	"fmt"
	"strings"
)

// grammar generates commands from bytes: each byte is a choice. All programs that it
// uses are in the cell, and all paths on the stage.
type grammar struct {
	bytes []byte
	depth int
}

// n returns a number below of.
func (g *grammar) n(of int) int {
	if len(g.bytes) == 0 {
		return 0
	}
	b := g.bytes[0]
	g.bytes = g.bytes[1:]
	return int(b) % of
}

func (g *grammar) one(of ...string) string { return of[g.n(len(of))] }

// evil returns a denied program, in some spelling.
func (g *grammar) evil() string {
	name := g.one("sudo", "frob", "chmod", "perl", "curl")
	switch g.n(14) {
	case 1:
		return `\` + name
	case 2:
		return "'" + name + "'"
	case 3:
		return name[:1] + "''" + name[1:]
	case 4:
		return name[:2] + `"` + name[2:] + `"`
	case 5:
		return fmt.Sprintf(`$'\x%02x%s'`, name[0], name[1:])
	case 6:
		return "{" + name + ",x}"
	case 7:
		return "{," + name + "}"
	case 8:
		return "/bin/" + name
	case 9:
		return "${x:-" + name + "}"
	case 10:
		return "$(echo " + name + ")"
	case 11:
		return "x=" + name + "; $x"
	case 12:
		return name[:2] + "\\\n" + name[2:]
	case 13:
		return "/bin/" + name[:3] + "?"
	}
	return name
}

// path returns a path on the stage.
func (g *grammar) path() string {
	return g.one("a.txt", "new", "sub/new", "../out/x", "link-out/x", "link-file", ".git/config", "sub/../../out/y", "link-in/../b.txt", `"$HOME/x"`, "~/x", "*.txt", "link-*",
		"$x", `"$PWD/z"`, "-o", "./-o", "..", ".", "link-in/n", "/dev/null", `$(echo a.txt)`, "{a,b}.txt", ".*", `'a.txt'`, "../wor[k]/a.txt", "sub/c.txt", "link-out/../out/x")
}

// simple returns a simple command.
func (g *grammar) simple() string {
	switch g.n(36) {
	case 0, 1, 2, 3, 4:
		return g.evil()
	case 5:
		return "cat " + g.path()
	case 6:
		return "rm -f " + g.path()
	case 7:
		return "touch " + g.path()
	case 8:
		return "cp a.txt " + g.path()
	case 9:
		return "mv b.txt " + g.path()
	case 10:
		return "ln -s" + g.one("", "f") + " " + g.path() + " " + g.path()
	case 11:
		return "mkdir -p " + g.path()
	case 12:
		return "sort " + g.path() + " -o" + g.one("", " ") + g.path()
	case 13:
		return "sort " + g.path()
	case 14:
		return "tee " + g.path()
	case 15:
		return "sed " + g.one("-n ", "-i ", "", "-e p -e ") + g.one("p", "'1e "+g.evil()+"'", "s/a/b/", "'s/.*/sudo/e'", "'s/a/b/w ../out/x'", "'w ../out/x'", "'/a/{p;d}'", "'$!d'", "'1a\\\nx\n1e sudo'", "'s/[/]/x/;e sudo'", "'y/ab/cd/;p'", "'s,a,b,;#x\n1e sudo'") + " " + g.path()
	case 16:
		return "awk " + g.one("1", `'{print $1}'`, `'BEGIN{system("`+g.evil()+`")}'`, `'{print > "../out/x"}'`, `'{print | "sudo"}'`, `'$1 > 3'`, `'/}/ > "x"{print}'`, `'BEGIN{"sudo"|getline}'`, "'{ # }\n print > \"../out/x\" }'") + " " + g.path()
	case 17:
		return "cd " + g.one("sub", "..", "link-out", "$x", "", "-", "../work", "sub/..", "link-in/..")
	case 18:
		return "xargs " + g.one("", "-n1 ", "-I{} ", "-r -0 ") + g.one(g.evil(), "rm", "echo", "{}", "sh -c '{}'", "cat", "touch {}")
	case 19:
		return "find " + g.one("", ". ", "sub ", "../out ") + g.one("-delete", "-name x", "-exec "+g.evil()+" \\;", "-exec cat {} +", "-exec rm {} +", "-fprint ../out/x", "-name $x", "-exec echo + ';' -exec sudo ';'", "-exec touch + ../out/z \\;", "-type f -print")
	case 20:
		return g.one("eval", "exec", "command", "builtin", "env", "nohup", "nice", "timeout 1", "setsid -w", "env -i", "command -v", "exec -a x", "exec -a rm busybox", "env X=1", "env -u X", "timeout $x", "nice -n 1", "env -S") + " " + g.nested()
	case 21:
		return g.one("sh -c ", "bash -c ", "bash -ec ", "dash -c ", "eval ", "bash -c -- ", "sh -c --", "bash -o pipefail -c ") + g.quote(g.script())
	case 22:
		return g.one("sh", "bash", "bash -s", "sh -e") + " <<" + g.one("", "-") + g.one("'E'", "E", `"E"`, `\E`) + "\n" + g.one("", "\t") + g.script() + "\n" + g.one("", "\t") + "E\n"
	case 23:
		return g.one("sh", "bash", "cat") + " <<< " + g.quote(g.script())
	case 24:
		return g.one("x=", "PATH=", "x=a[", "HOME=", "IFS=", "y=1 ", "BASH_ENV=", "RANDOM=", "export OPTIND=", ": $SECONDS; SECONDS=") + g.one("sub", "1", "'a[$(sudo)]'", "run.sh", "$(sudo)") + g.one("", " ls", " bash -c ls", " "+g.simpler())
	case 25:
		return g.one("((x))", "echo $((x))", "[[ x -eq 1 ]]", "[ -v x ]", "test -v 'a[$(sudo)]'", "let x", "declare -i y=x", "echo ${y:x}", "echo ${y[x]}", "[[ -v 'a[$(sudo)]' ]]", "printf -v 'a[$(sudo)]' x",
			"read 'a[$(sudo)]' < a.txt", "unset 'a[$(sudo)]'", "echo ${x@P}", "echo ${!x}", "[ $x ]", "declare -n y=x; echo $y", "printf $x", `[ "$x" "$x" ]`, "wait -p x", "read <<< 'a[$(sudo)]'; ((REPLY))", ": 'a[$(sudo)]'; ((_))", "read RANDOM <<< 'a[$(sudo)]'", "b='c[$(sudo)]'; a=(1); [ -v 'a[b]' ]", "echo ${x/a/$(sudo)}")
	case 26:
		return "echo " + g.one("$(", "`", "\"$(", "<(", ">(") + "@" // completed below
	case 27:
		return "tar " + g.one("-cf ", "cf ", "-xf ", "-cf x.tar --to-command=sudo ", "cIf sudo ", "-g ../out/y -cf ") + g.path() + " a.txt"
	case 28:
		return "uniq " + g.path() + " " + g.path()
	case 29:
		return "trap " + g.quote(g.simpler()) + " EXIT"
	case 30:
		return g.one("set -a", "set -e", "set -- 'a[$(sudo)]' x; echo $(($1))", "shift", "exit", "exit 1 2", "return", "true", "false", "unset x", "unset -f f", ": ${x:=a}", "read x < a.txt", "printf -v x %s 'a[$(sudo)]'", "mapfile -C sudo -c 1 y < a.txt")
	case 31:
		return "f"
	case 32:
		return "cp " + g.one("", "-t sub ", "--target-directory=../out ", "--tar ../out ", "-r ") + g.one("./*", "*", "sub", "link-file", "-P link-out") + " " + g.path()
	case 33:
		return "truncate -s 1 " + g.path()
	case 34:
		return "install " + g.path() + " " + g.path()
	}
	return "cd " + g.one("sub", "..", "link-out", "link-in/..", "../out", "sub/..") + g.one("; ", " && ", " || ", "\n") + g.one("touch ", "rm -f ", "echo x > ") + g.path()
}

func (g *grammar) simpler() string {
	return g.one("sudo", "ls", "rm ../out/x", "echo x > ../out/x", "frob")
}

// nested returns a command after a wrapper.
func (g *grammar) nested() string {
	if g.depth++; g.depth > 4 {
		return "ls"
	}
	defer func() { g.depth-- }()
	return g.simple()
}

// quote quotes a text.
func (g *grammar) quote(s string) string {
	switch g.n(3) {
	case 1:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`).Replace(s) + `"`
	case 2:
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// statement returns a simple or compound command.
func (g *grammar) statement() string {
	if g.depth++; g.depth > 4 {
		return "ls"
	}
	defer func() { g.depth-- }()
	s := g.simple()
	if head, ok := strings.CutSuffix(s, "@"); ok {
		open := strings.TrimPrefix(head, "echo ")
		s = "echo " + open + g.statement() + map[string]string{"$(": ")", "`": "`", "\"$(": ")\"", "<(": ")", ">(": ")"}[open]
	}
	switch g.n(24) {
	case 0:
		s += " " + g.one(">", ">>", ">|", "&>", "2>", ">&", "<", "<>", "{y}>", "> /dev/null 2>&1 >", "> /dev/fd/3 3<", ">> /dev/stdout 1<", "2> /dev/stdin <") + " " + g.path()
	case 1:
		s = "( " + s + " )"
	case 2:
		s = "{ " + s + "; }"
	case 3:
		s = "if " + s + "; then " + g.statement() + "; else " + g.statement() + "; fi"
	case 4:
		s = "for x in " + g.one("1", "'a[$(sudo)]'", "a b", "$(sudo)") + "; do " + s + "; done"
	case 5:
		s = "while " + s + "; do " + g.statement() + "; break; done"
	case 6:
		s = "case x in " + g.one("x", "y", "$(sudo)") + ") " + s + ";; *) " + g.statement() + ";; esac"
	case 7:
		s = "f() { " + s + "; }"
	case 8:
		s = "! " + s
	case 9:
		s = "time " + s
	case 10:
		s += " &"
	case 11:
		s = "cat <<E\n" + g.one("x", "$("+s+")", "`"+s+"`", "E\n"+s, "${x:-$("+s+")}", "${x:-'$("+s+")'}") + "\nE\n"
	case 12:
		s = g.one("x", "y", "f") + "() { :; }; " + s
	case 13:
		s = g.one("#", "ls # x \\\n", "# x\\\\\n", "a=('x[$("+s+")]'); echo ${!a[@]%z} # ") + s
	case 14:
		s = "cat a.txt | " + s
	case 15:
		s = "echo " + g.one("\"${x:-'$("+s+")'}\"", "\"${x#'`"+s+"`'}\"", "\"${x:-\"'$("+s+")'\"}\"", "${x-'$("+s+")'}", "\"${x+\\'$("+s+")\\'}\"")
	case 16:
		s = "echo " + g.one("$(", "\"$(", "<(") + "cat <<" + g.one("E", "'E'", "-E") + "\nx\n" + g.one("E)", "E ) ; ", "\tE)", "\\\nE)", "x", "F)") + "\n" + s + "\nE\n)"
		if strings.HasPrefix(s, "echo \"") {
			s += "\""
		}
	}
	return s
}

// script returns a list of statements.
func (g *grammar) script() string {
	if g.depth++; g.depth > 4 {
		return "ls"
	}
	defer func() { g.depth-- }()
	s := g.statement()
	for range g.n(4) {
		sep := g.one("; ", "\n", " && ", " || ", " | ", " & ", " |& ")
		if strings.HasSuffix(s, "\n") {
			sep = ""
		}
		s += sep + g.statement()
	}
	return s
}

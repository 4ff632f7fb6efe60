package policy

import (
	"maps"
	"slices"
	"strings"
)

// toolGrammar generates commands of programs with options, scripts and operands, beside
// those of grammar. The options are those of programs.txt, and some that are not there.
type toolGrammar struct {
	grammar
	names []string // of programs and subcommands of programs.txt
}

// toolNames returns the programs of the cell, and their subcommands, whose options the grammar
// draws.
func toolNames() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		tool, _, _ := strings.Cut(name, " ")
		if p := programs[name]; p.class == harmless && !p.sub && (slices.Contains(honest, tool) || slices.Contains(moreHonest, tool)) {
			out = append(out, name)
		}
	}
	return out
}

// value returns the value of an option, or a word where a value might be.
func (g *toolGrammar) value() string {
	return g.one("1", "a.txt", "../out/x", "frob", "'|frob'", "sub/new", ".", "HEAD", "main", "'%f'", "-1", "..", "link-out", "new", "x=frob", "'$(frob)'", "0", "a", ",", "/dev/null", ".env", "../out", "sub", "*", "'a.txt frob'", "never", "--", "docs/x", "'!frob'", "origin")
}

// operand returns a word that names a file, a revision or nothing of the kind.
func (g *toolGrammar) operand() string {
	switch g.n(5) {
	case 0:
		return g.one("a.txt", "b.txt", "sub", "sub/c.txt", ".", "x.tar", "x.tgz")
	case 1:
		return g.one("HEAD", "main", "HEAD~1", "HEAD:a.txt", "HEAD:.env", "--", "origin", "../out/r", "'*.txt'", ":/a", "@", "stash@{0}", "HEAD..main", "':(top)'", "refs/heads/main")
	case 2:
		return g.value()
	}
	return g.path()
}

// tableCommand returns a command of a program of programs.txt with a few options.
func (g *toolGrammar) tableCommand() string {
	i := g.n(256)*256 + g.n(256)
	name := g.names[i%len(g.names)]
	p := programs[name]
	words := []string{name}
	shorts, longs := slices.Sorted(maps.Keys(p.options.short)), slices.Sorted(maps.Keys(p.options.long))
	for range g.n(4) {
		k := g.n(256)
		switch {
		case len(longs) > 0 && (k%2 == 0 || len(shorts) == 0):
			long := longs[(k/2*7+g.n(256))%len(longs)]
			dash := "--"
			if p.options.single {
				dash = "-"
			}
			word := dash + long
			switch kind := p.options.long[long]; {
			case takesWord(kind) && g.n(3) == 0:
				word += " " + g.value()
			case takesWord(kind), kind == '?' && g.n(2) == 0:
				word += "=" + g.value()
			case g.n(12) == 0:
				word = word[:max(4, len(word)-g.n(5)-1)%(len(word)+1)]
			case g.n(20) == 0:
				word += "=" + g.value()
			}
			words = append(words, word)
		case len(shorts) > 0:
			short := shorts[(k/2+g.n(256))%len(shorts)]
			word := "-" + string(rune(short))
			switch kind := p.options.short[short]; {
			case takesWord(kind) && g.n(2) == 0:
				word += " " + g.value()
			case takesWord(kind), kind == '?' && g.n(2) == 0:
				word += g.value()
			case g.n(2) == 0:
				word += string(rune(shorts[g.n(256)%len(shorts)])) + g.one("", "", g.value())
			}
			words = append(words, word)
		default:
			words = append(words, "-"+string(rune('a'+g.n(26))))
		}
	}
	for range g.n(4) {
		words = append(words, g.operand())
	}
	return strings.Join(words, " ")
}

// sedCommand returns a sed command whose script consists of tokens in any order.
func (g *toolGrammar) sedCommand() string {
	script := ""
	for range 1 + g.n(6) {
		script += g.one("", "", "1", "$", "/a/", "1,2", "0~2", "/a/,+1", "/[/]/", "/[]/p;s#]/w new#p#;", "/[^]/d;s#]/e frob#p#;", `\,a,`, "2!", "/a/I", "1~2", "/x\\/y/") +
			g.one("p", "d", "s/a/b/", "s,a,b,g", "s/a/b/p", "s/a/b/e", "s/a/b/w ../out/x", "s/a/frob/;e", "e frob", "1e frob", "w ../out/x", "r .env", "R .env", "W new", "{p", "}", "{s/a/b/}", "a x", "a\\", "i\\\nx", "c x", "y/ab/cd/", "=", "n", "N", "q", "Q1", "q5", "#x", "s/[/]/x/", "s/a\\/b/c/", "s/a/b\\\nc/", "s|a|b|2", "l", "D;P", "h;G", "b x", ":x", "tx", "v", "z", "F", "s/\\n/x/", "saabae frob", "s/a/b/m", "s/a/b/I;e frob", "s\ta\tb\t", "}e frob", "a frob;e frob") +
			g.one(";", "\n", "", " ", ";;", "}", " ; ", "\n#")
	}
	return "sed " + g.one("", "-n ", "-E ", "-i ", "-i.b ", "-n -e p -e ", "-s ", "--posix ", "-z ", "-ni ", "-e p --expression=") + g.quote(script) + g.one("", " ") + g.one(" a.txt", " "+g.path(), " "+g.operand())
}

// awkExpression returns an expression of awk.
func (g *toolGrammar) awkExpression() string {
	if g.depth++; g.depth > 7 {
		return "1"
	}
	defer func() { g.depth-- }()
	switch g.n(20) {
	case 0:
		return g.awkExpression() + " " + g.one("+", "-", "*", "/", "%", "^", "==", "<", ">", "~", "!~", "&&", "||", "", "in", ",", "?1:", ">>", "|", "|&", "=", ",\n", "||\n") + " " + g.awkExpression()
	case 1:
		return "(" + g.awkExpression() + ")"
	case 2:
		return g.one("length", "substr", "index", "system", "split", "getline", "close", "f", "tolower", "sprintf", "gsub", "int", "strftime", "gensub", "fflush") + "(" + g.awkExpression() + g.one("", ", 1", ", x", ", /a/, \"b\"") + ")"
	case 3:
		return g.one("getline", "\"frob\" | getline", "getline x < \".env\"", "getline < \"a.txt\"", "length", "@f", "x[\"system\"]", "PROCINFO[1]", "ENVIRON[\"x\"]", "$0", "NR", "x++", "--x", "-1", "!x")
	}
	return g.one("1", "$1", "x", "/a/", `"frob"`, `"../out/x"`, `"a\"b"`, "/[/]/", `/\//`, "NF", "$NF", `"a" "b"`, "x[1]", "1.5", ".env", `"/inet/tcp/0/x/1"`, "a/b/c", "/=a/", "\"x\\\ny\"")
}

// awkStatement returns a statement of awk.
func (g *toolGrammar) awkStatement() string {
	if g.depth++; g.depth > 7 {
		return "print"
	}
	defer func() { g.depth-- }()
	switch g.n(12) {
	case 0, 1, 2, 3:
		return g.one("print ", "print", "printf ", "print(", "printf(\"%s\", ") + g.awkExpression() + g.one("", "", ")", ", 1", ")(1)", ", (x") + g.one("", "", "", " > \"../out/x\"", " >> \"../out/x\"", " | \"frob\"", ">\"../out/x\"", " |& \"frob\"", " > x", "> 1")
	case 4:
		return "if (" + g.awkExpression() + ") " + g.awkStatement() + g.one("", "; else "+g.awkStatement())
	case 5:
		return g.one("while (0)", "for (;0;)", "for (k in x)", "do print; while (0); ") + g.awkStatement()
	case 6:
		return "{ " + g.awkStatement() + g.one("; ", "\n", " # }\n", " # {\n") + g.awkStatement() + " }"
	case 7:
		return "x = " + g.awkExpression()
	case 8:
		return g.one("next", "exit", "exit 1", "delete x", "break", "continue", "return", "getline", "close(\"x\")")
	case 9:
		return "print 1" + g.one(",", " ||", " &&", "") + "\n" + g.one("2", "$1") + g.one("", " > \"../out/x\"", " > \"new\"")
	}
	return g.awkExpression()
}

func (g *toolGrammar) awkCommand() string {
	program := g.one("", "BEGIN ", "END ", "/a/ ", "NR==1 ", g.awkExpression()+" ") + g.one("{ ", "", "{") + g.awkStatement() + g.one(" }", "", "; "+g.awkStatement()+" }", "}")
	if g.n(12) == 0 {
		program = "/[" + g.one("]", "^]", "[:alpha:]", "^a]", "[=a=]", "a]/") + `/||"]/{` + g.one("print>NR", "system($0)", g.awkStatement()) + `}#"`
	}
	return g.one("awk ", "awk ", "gawk ", "mawk ") + g.one("", "-F: ", "-F '|frob' ", "-v x=1 ", "-v 'x=$(frob)' ", "-f a.txt ", "-e 1 ", "-- ", "-v RS= ", "-vOFS=x ", "--posix ", "-W exec=a.txt ", "-o../out/x ") + g.quote(program) + " " + g.one("a.txt", g.path(), "x=1 a.txt", "a.txt sub/c.txt", "-", "< a.txt", "FS=frob a.txt")
}

func (g *toolGrammar) findCommand() string {
	out := "find " + g.one("", "", "-L ", "-H ", "-O3 ", "-D exec ", "-P ") + g.one("", ". ", "sub ", "../out ", "$x ", "link-out ", "link-out/ ", "a.txt ")
	for range g.n(5) {
		out += g.one("-name '*.txt' ", "-type f ", "-maxdepth 1 ", "-newer a.txt ", "-delete ", "-exec frob {} + ", "-exec cat {} + ", "-exec rm -f {} \\; ", "-execdir rm {} + ", "-exec touch ../out/{} \\; ", "-exec sh -c '{}' \\; ", "-ok rm {} \\; ", "-o ", "! ", "\\( ", "\\) ", "-print0 ",
			"-printf '%p' ", "-fprintf ../out/x x ", "-fprint new ", "-fls ../out/x ", "-fprint0 sub/new ", "-prune ", "-quit ", "-files0-from a.txt ", "-samefile ../out/x ", "-regex '.*' ", "-exec sed -i s/a/b/ {} + ", "-exec cp {} {}.b \\; ", "-exec cp {} ../out \\; ", "-exec mv {} sub \\; ", "-empty ", "-newermt 2020-01-01 ", "-exec grep a {} + ", "-exec cat {} \\; -quit ", "-path './sub*' ", "-exec ln -s {} l \\; ", "-exec tee {}x \\; ")
	}
	return out
}

func (g *toolGrammar) xargsCommand() string {
	return g.one("ls", "echo ../out/new", "echo '$(frob)'", "find . -name '*.txt'", "printf '%s\\n' -o ../out/x", "printf 'a.txt\\0b.txt'", "cat a.txt", "echo -e frob", "git ls-files", "echo --output=../out/x", "echo /inet/tcp/0/127.0.0.1/9") + " | xargs " +
		g.one("", "-n1 ", "-0 ", "-I{} ", "-I % ", "-r ", "-P2 -n1 ", "-a a.txt ", "-i ", "--replace=X ", "-E x ", "-L1 ", "-d '\\n' ", "-t ", "-p ", "-o ", "-S 1 ", "--process-slot-var=PATH ", "-J % ", "-l ") +
		g.one("", "cat", "echo", "rm -f", "touch", "grep a", "sort", "head -1", "wc -l", "sed -n p", "ls -l", "sh -c 'cat {}'", "sh -c 'cat \"$@\"' x", "cp -t sub", "mv -t ../out", "{}", "frob", "env", "xargs", "awk 1", "gawk 1", "tee", "git add", "tar -cf new.tar", "cat {}", "echo {} >", "basename", "grep -l a --", "sort --", "rm -f --", "touch ./", "stat", "diff a.txt", "git log --", "git show", "find", "test -f", "printf", "mkdir -p", "cut -c1", "bash -c")
}

func (g *toolGrammar) tarCommand() string {
	return "tar " + g.one("-cf ", "cf ", "czf ", "-xf ", "xf ", "xzf ", "-tf ", "tzf ", "-xOf ", "-cvf ", "-rf ", "--create --file=", "--extract --file ", "-C sub -xf ", "-xf x.tar -C ", "-x -C sub -f ", "-cf new.tar -C ", "-cf new.tar -T ", "xf x.tgz -C sub --strip-components=1 ", "-czf new.tgz -C sub ", "--exclude=x -cf ", "-cf - ", "-cPf ", "-I frob -cf ", "-cjf ", "cfC new.tar sub ", "-cafnew.tgz ", "-xf x.tar --one-top-level=", "--get -f") + g.operand() + g.one("", " a.txt", " sub", " "+g.path(), " -C .. out", " ../out", " --to-stdout", " | cat", " --wildcards '*'", " -C sub c.txt", " link-out", " a.txt/../../out/x")
}

func (g *toolGrammar) makeCommand() string {
	return "make " + g.one("", "-n ", "-C sub ", "-C .. ", "-f Makefile ", "-f a.txt ", "-f - ", "-j2 ", "-k ", "-s ", "-B ", "-I ../out ", "--eval=x ", "-E x ", "-f/dev/stdin ", "-o a.txt ", "-p ", "--directory=sub ") +
		g.one("", "all", "run", "X=1", "X=frob", "'X=$(frob)'", "'X=$(shell frob)'", "X=../out/x out", "CC=frob run", "SHELL=/bin/frob", ".SHELLFLAGS=-c", "MAKEFLAGS=-n", "X:=a", "X+=b", "X!=frob", "../out/x", "X=perl", "'X=a b'", "override", "a.txt", "VPATH=..", "X=`frob`", "RM=frob clean", "-- all", "GNUMAKEFLAGS=x")
}

func (g *toolGrammar) interpreterCommand() string {
	return g.one("python3 ", "python3 ", "python ", "python3 -u ", "python3 -S ", "python3 -X importtime ", "python3 -W error ", "python3 -O ", "python3 -X pycache_prefix=../out/p ", "python3 -B ", "python3 -i ") +
		g.one("src/tool.py", "-c 'print(1)'", "-m json.tool a.json", "-m json.tool a.json ../out/x", "-m json.tool a.json new.json", "-m venv sub/v --without-pip", "-m venv ../out/v", "-m py_compile src/tool.py", "-m py_compile ../out/x", "-m compileall src", "-m compileall -q ../out", "-m unittest", "-m unittest discover -s ../out", "-m timeit 1", "-m http.server 0", "-m pip list", "-m zipfile -l x", "../out/tool.py", "-", "--version", "-V", "-h", "link-out/tool.py", "src/tool.py ../out/x", "-m doctest src/tool.py", "-mjson.tool a.json", "-Bm json.tool a.json", "-m cProfile src/tool.py", "-m trace --trace src/tool.py", "-x src/tool.py", "-I -m json.tool a.json ../out/y", "./src", ".", "-m src.tool", "-m calendar") + g.one("", "", " < a.txt", " | head -1", " > new", " > ../out/x")
}

// stateCommand returns a command whose later part depends on what an earlier one made, set
// or defined.
func (g *toolGrammar) stateCommand() string {
	use := func(name string) string {
		return g.one("cat "+name, "echo x > "+name, "touch "+name, "rm -f "+name, "cp a.txt "+name, "cd "+name+" && touch y", "ls "+name, name+" a.txt", "sort -o "+name+" a.txt", "sort a.txt "+name, "mkdir -p "+name+"/q", "git -C "+name+" status", "tar -xf x.tar -C "+name, "sed -i s/a/b/ "+name, "grep a "+name, "find "+name+" -type f", "mv b.txt "+name, "tee "+name+" < a.txt", "[ -f "+name+" ]", "cat < "+name, "xargs "+name+" < a.txt", "awk "+name+" a.txt", "gawk 1 "+name, "sed "+name+" a.txt", "ln -s a.txt "+name, "truncate -s 0 "+name, "git log "+name, "git diff "+name+" | head", "python3 "+name, "sh "+name, "make "+name, "sleep "+name, "head -n "+name+" a.txt", "diff a.txt "+name, "command "+name, "env "+name+" a.txt", "test "+name)
	}
	sep := g.one("; ", " && ", "\n", " || ", " | ", " & ", "; true && ")
	switch g.n(16) {
	case 0, 1, 2, 3:
		value := g.one("../out/x", "a.txt", "sub", "-o", "frob", "'-o new'", "$(cat a.txt)", "~/x", `"$PWD/../out/x"`, "..", "'; frob'", "link-out/x", "-delete", "1", "'a b'", "$y", "*.txt", ".env", `""`, "new", "'$(frob)'", "s/a/b/e", "'BEGIN{system(\"frob\")}'", "-rf", "/inet/tcp/0/127.0.0.1/9", "et/tcp/0/127.0.0.1/9")
		word := g.one("$x", `"$x"`, `"${x}"`, "${x%y}", `"$x/y"`, `"./$x"`, `"sub/$x"`, "${x:-a}", `"${x:0:3}"`, "${x##*/}", `"$x$x"`, "../out/$x", "-$x", "--$x", "/in$x")
		return g.one("x="+value, "export x="+value, "read -r x < a.txt", "for x in "+value+"; do :; done", "x="+value+"; x=$x/..", "y="+value+"; x=$y", "set -- "+value+"; x=$1", ": ${x:="+value+"}", "x+="+value, "printf -v x %s "+value, "x=("+value+" b)", "local x="+value, "declare x="+value, "echo "+value+" | read -r x", "if true; then x="+value+"; fi", "( x="+value+" )", "{ x="+value+"; }") + sep + use(word)
	case 4:
		return "for x in " + g.one("../out/x", "a.txt b.txt", "$(ls)", "*.txt", "sub ..", "-o", "{1..3}", "*", "../*") + "; do " + use(g.one("$x", `"$x"`, `"./$x"`, `"$x.b"`)) + "; done"
	case 5:
		return g.one("ls", "find . -type f", "echo ../out/x", "cat a.txt") + " | while read -r x; do " + use(g.one(`"$x"`, "$x", `"./$x"`)) + "; done"
	case 6:
		return "ln -s" + g.one("", "f", "fn") + " " + g.one("../out", "sub", "..", "/", "link-out", "$PWD", "a.txt") + " " + g.one("l", "sub/l", ".", "sub") + sep + use(g.one("l", "l/x", "sub/l", "out/x", "sub/sub", "l/out/x", "sub/out/x"))
	case 7:
		return g.one("cp -P link-out ", "cp -r link-out ", "cp -a . ", "mv link-out ", "cp -R sub ", "mv sub ", "cp -d link-file ", "mv link-file ", "rm -rf sub; mv link-out ") + g.one("n", "sub", "sub/n", "sub/c.txt") + sep + use(g.one("n", "n/x", "sub/n/x", "sub/x", "sub/link-out/x", "n/link-out/x", "sub/c.txt"))
	case 8:
		return "mkdir -p " + g.one("n", "sub/n", "n/.git", "n/objects n/refs") + sep + "cd " + g.one("n", "sub/n", "..", "-", "link-out", "n/..") + sep + use(g.one("x", "../x", "../../out/x", "../a.txt"))
	case 9:
		return g.one("pushd sub", "cd sub", "cd link-out", "cd link-in", "cd ..", "popd", "cd", "cd -", "cd sub || true", "(cd ..)", "{ cd ..; }", "cd .. | true", "if cd ..; then :; fi", "cd nope", "cd sub/..", "cd link-in/..", "cd .. &", "cd -P link-in/..", "true || cd ..", "cd sub; cd -") + sep + use(g.one("x", "../x", "out/x", "../out/x", "work/a.txt"))
	case 10:
		name := g.one("f", "ls", "cat", "cd", "touch", "git")
		return g.one(name+"() { ", "function "+name+" { ") + g.one("cd ..", "frob", "x=../out/x", ":", "command "+name+" \"$@\"") + "; }" + sep + name + sep + use(g.one("out/x", "$x", "a.txt"))
	case 11:
		return "tar -xf " + g.one("x.tar", "x.tgz", "links.tar") + g.one("", " -C sub") + sep + use(g.one("l/x", "sub/l/x", "a.txt", "l"))
	case 12:
		return g.one("alias ls=frob", "enable -n echo", "hash -p run.sh ls", "set -a", "set -f", "shopt -s expand_aliases", "set -- ../out/x", "exec > ../out/x", "exec 3> new", "exec < a.txt", "umask 0", "unset HOME", "set -o noclobber", "trap frob EXIT", "IFS=/", "HOME=../out", "CDPATH=..", "PATH=.", "exec cat a.txt") + sep + use(g.one("$1", "x", "~/x", "a.txt"))
	case 13:
		return g.one("git checkout -q main", "git stash", "git mv a.txt n", "git init -q n", "git worktree add -q n", "git restore a.txt", "git checkout -b y", "git rm -q a.txt", "git reset -q", "git commit -qam x", "git merge side", "git checkout -q side", "git config core.x y", "git config user.name x", "git add .", "git tag x", "git branch y", "git config alias.x '!frob'", "git switch -q side") + sep + use(g.one("l/x", "n", "l", "a.txt", "side/x"))
	case 14:
		return g.one("cp -r docs/x n", "mv docs/x n", "ln -s docs/x n", "cp run.sh n", "echo frob > n", "echo '[core]' > n", "mkdir n; cp docs/x/HEAD n; cp -r docs/x/objects docs/x/refs n", "cp run.sh sub/ls", "echo frob >> Makefile", "cat > n <<'E'\nfrob\nE\n", "echo 'ref: x' > sub/HEAD") + sep + g.one("./n", "sh n", "git -C n status", "cd n && git status", "make", "git status", "sub/ls", "bash ./n", "make -f n", "python3 n", "awk -f n a.txt", "sed -f n a.txt", "xargs < n", "cat n")
	}
	return g.one("x=$(", "echo $(", "cat <(", "diff <(", "cat <<E\n$(") + g.short() + ")" + g.one("", "; ", "\nE\n") + use("$x")
}

func (g *toolGrammar) short() string {
	if g.depth++; g.depth > 4 {
		return "ls"
	}
	defer func() { g.depth-- }()
	return g.tool()
}

// tool returns a command of a program.
func (g *toolGrammar) tool() string {
	switch g.n(16) {
	case 0, 1, 2, 3:
		return g.tableCommand()
	case 4:
		return g.sedCommand()
	case 5, 6:
		return g.awkCommand()
	case 7:
		return g.findCommand()
	case 8:
		return g.xargsCommand()
	case 9:
		return g.tarCommand()
	case 10:
		return g.makeCommand()
	case 11:
		return g.interpreterCommand()
	case 12:
		return "git " + g.one("-C sub ", "-C .. ", "--no-pager ", "-c color.ui=always ", "-c core.pager=frob ", "") + g.one("status", "log -p -2", "diff", "show", "add "+g.path(), "commit -qm x", "mv "+g.path()+" "+g.path(), "rm -q "+g.path(), "checkout "+g.operand(), "stash", "init "+g.path(), "clone -q . "+g.path(), "archive HEAD -o "+g.path(), "format-patch -1", "format-patch -1 -o "+g.path(), "apply "+g.path(), "grep a", "blame "+g.path(), "bundle create "+g.path()+" HEAD", "config "+g.value()+" "+g.value(), "remote add "+g.value()+" "+g.value(), "fetch -q "+g.operand(), "push -q "+g.operand(), "worktree add "+g.path(), "merge side", "rebase side", "log --format=%H --output="+g.path(), "diff --no-index a.txt "+g.path(), "clean -fd", "reset -q", "ls-files -o", "show HEAD:"+g.path(), "cat-file --filters HEAD:a.txt", "branch "+g.value(), "tag "+g.value(), "switch side", "restore "+g.path(), "cherry-pick side", "notes add -m x", "describe --all", "reflog", "submodule status", "rev-parse --git-path x")
	case 13:
		return g.simple()
	}
	return g.stateCommand()
}

// command returns one command, or a list of two, perhaps in a construct of the shell.
func (g *toolGrammar) command() string {
	s := strings.TrimSuffix(g.tool(), "@")
	switch g.n(10) {
	case 0:
		s += g.one("; ", " && ", " | ", " || ", "\n") + strings.TrimSuffix(g.tool(), "@")
	case 1:
		s += " " + g.one(">", ">>", "<", "2>", "&>", "> /dev/fd/3 3<", ">> /dev/stderr 2<") + " " + g.path()
	case 2:
		s = g.one("sh -c ", "bash -c ", "dash -c ", "eval ") + g.quote(s)
	case 3:
		s = g.one("timeout 1 ", "env ", "nice ", "command ", "busybox ", "time ", "! ", "nohup ", "env LANG=C ", "exec ", "exec -a rm busybox ", "exec -a git-init ", "stdbuf -o0 ") + s
	case 4:
		s = g.statement()
	}
	return s
}

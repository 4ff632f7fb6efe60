package policy

import "strings"

// programClass is what a program does, as far as a policy cares.
type programClass int

const (
	harmless programClass = iota // what its options and operands say; else nothing
	builds                       // runs the code of the workspace
	guarded                      // nobody's, by the guard rails
	opaque                       // runs what nobody can read: another program, code, another machine
	judged                       // its judge says
)

// operandKind is what a program does with its operands.
type operandKind int

const (
	readsAll operandKind = iota
	nothing              // they are no files
	readsAfterFirst
	writesAll
	writesLast // and reads the others
)

// program is what there is to know of a program.
type program struct {
	class   programClass
	why     string // of guarded and opaque
	options string // the table of its options; "": all are harmless
	args    operandKind
	judge   func(j *judgement, n *Node, c *command) flow
}

func (p *program) says() string {
	switch {
	case p.class == builds:
		return "mode implementation runs the code of the workspace"
	case p.args == writesAll || p.args == writesLast:
		return "it writes what it names"
	}
	return "it changes nothing"
}

// programs are those that are known, builtins of shells among them.
var programs = map[string]*program{}

// isProgram reports whether a name is taken.
func isProgram(name string) bool { return programs[name] != nil }

func add(p program, names string) {
	for name := range strings.FieldsSeq(names) {
		programs[name] = &p
	}
}

func init() { //nolint:gochecknoinits // judges call the table that holds them
	// Whatever the options, these only read or print.
	add(program{}, `cat tac head tail wc nl od hexdump strings cut paste join comm fold fmt expand unexpand rev column cksum md5sum sha1sum
		sha224sum sha256sum sha384sum sha512sum b2sum readlink realpath ls dir vdir du df stat cmp diff zcat`)
	add(program{args: readsAfterFirst}, "grep egrep fgrep jq")
	add(program{args: nothing}, `echo true false : pwd tr basename dirname seq sleep nproc arch uname whoami id groups who users tty printenv locale cal ps free
		uptime getconf which whereis type exit return break continue shift times dirs logname expr factor numfmt hostid pathchk tput umask`)

	// These have options that write or run.
	add(program{options: "bdfghiMnRrVcCmsuz k: t: S: o> T> --output> --compress-program! --files0-from< --key: --field-separator: --buffer-size: --parallel: --temporary-directory> --reverse --unique --numeric-sort --stable --check? --version-sort --human-numeric-sort --ignore-case --zero-terminated --general-numeric-sort --merge --random-sort --month-sort --ignore-leading-blanks --dictionary-order"}, "sort")
	add(program{options: "dDiw: --decode --ignore-garbage --wrap:"}, "base64 base32")
	add(program{args: nothing, options: "fnp!"}, "wait") // -p sets a variable
	add(program{options: "ezirn: o> --output> --random-source< --echo --head-count: --input-range: --zero-terminated --repeat"}, "shuf")
	add(program{options: "adflxCDFspughiDANXQnqvtcUrSJIP: L: o> --noreport --dirsfirst --gitignore --prune --filelimit: --du --si --charset: --inodes --device --timefmt: --sort: --matchdirs --info --fromfile --filesfirst --ignore-case"}, "tree")
	add(program{options: "bikLhrsSzZ0e: F: m< f< P: --mime --mime-type --mime-encoding --brief --dereference --no-dereference --compile! C! --uncompress --extension --separator:"}, "file")
	add(program{args: readsAfterFirst, options: `nNiIsSvwxlLcFPoHhqUup0bA: B: C: e: g: m: t: T: M: j: d: r: f< E: --pre! --pre-glob: --hostname-bin! --search-zip! --files --hidden --glob: --iglob: --type: --type-not:
		--ignore-case --smart-case --line-number --no-line-number --count --count-matches --files-with-matches --files-without-match --fixed-strings --word-regexp --invert-match --only-matching --multiline --multiline-dotall
		--no-ignore --no-ignore-vcs --no-heading --heading --no-filename --with-filename --color: --json --context: --after-context: --before-context: --max-count: --max-depth: --sort: --sortr: --stats --vimgrep --pcre2 --null
		--regexp: --file< --replace: --trim --passthru --pretty --quiet --column --unrestricted --follow --text --type-list --max-columns: --threads: --no-messages --case-sensitive --line-regexp --no-config`}, "rg")
	add(program{args: writesAll, options: "ai p? --append --ignore-interrupts --output-error?"}, "tee")

	// These write.
	add(program{args: writesAll, options: "pvm: Z --parents --verbose --mode:"}, "mkdir")
	add(program{args: writesAll, options: "pv --parents --verbose --ignore-fail-on-non-empty"}, "rmdir")
	add(program{args: writesAll, options: "acmhfd: t: r< --date: --reference< --time: --no-create --no-dereference"}, "touch")
	add(program{args: writesAll, options: "cos: r< --size: --no-create --io-blocks --reference<"}, "truncate")
	add(program{args: writesAll, options: "cdfklnqtvN123456789S: --stdout --decompress --force --keep --list --quiet --test --verbose --best --fast --no-name --name --suffix:"}, "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd")
	add(program{args: writesAll, judge: judgeRemove}, "rm unlink")
	add(program{args: writesLast, judge: judgeCopy}, "cp mv ln install")
	add(program{judge: judgeMktemp}, "mktemp")
	add(program{judge: judgeUniq}, "uniq xxd")
	add(program{judge: judgeTar}, "tar")
	add(program{args: writesAll, options: "lsdewr: --simplify"}, "gofmt")

	// These run the code of the workspace, or that of its dependencies.
	add(program{class: builds, judge: judgeGo}, "go")
	add(program{class: builds, judge: judgeMake}, "make gmake")
	add(program{class: builds, judge: judgeCargo}, "cargo")
	add(program{class: builds, judge: judgePackages}, "npm pnpm yarn npx")
	add(program{class: builds, judge: judgePip}, "pip pip3")
	add(program{class: builds, judge: judgeInterpreter}, "node python python3")
	add(program{class: builds, args: nothing, options: "qvxslk: m: n: --quiet --verbose --maxfail: --lf --ff --tb: --last-failed --durations: --collect-only --exitfirst --no-header"}, "pytest")

	addShell()
	addWrappers()

	add(program{class: judged, judge: judgeGit}, "git")
	add(program{class: judged, judge: judgeFind}, "find")
	add(program{class: judged, judge: judgeSed}, "sed")
	add(program{class: judged, judge: judgeAwk}, "awk gawk mawk nawk")

	for why, names := range map[string]string{
		"it changes who acts":                "sudo doas su pkexec runuser sudoedit login newgrp sg setpriv capsh",
		"it ends or stops processes":         "kill pkill killall killall5 skill snice xkill fuser",
		"it turns off the machine":           "shutdown reboot halt poweroff init telinit",
		"it changes who may do what":         "chmod chown chgrp chattr setfacl setcap useradd userdel usermod groupadd passwd chpasswd visudo chsh vipw",
		"it writes to devices":               "dd mkfs mke2fs mkswap fdisk sfdisk parted wipefs hdparm losetup swapon swapoff blkdiscard",
		"it changes the machine":             "mount umount sysctl insmod rmmod modprobe iptables ip6tables nft systemctl service chroot unshare nsenter pivot_root launchctl update-alternatives ldconfig",
		"it runs something later":            "crontab at batch systemd-run atd cron anacron",
		"it destroys what cannot come back":  "shred srm",
		"it changes the shell that is to be": "alias unalias enable complete compgen compopt bind fc history shopt hash suspend jobs disown bg fg caller logout",
	} {
		add(program{class: guarded, why: why}, names)
	}
	for why, names := range map[string]string{
		"it runs commands on another machine, which nobody can judge":      "ssh scp sftp rsync rsh mosh telnet",
		"it runs commands that come from elsewhere":                        "parallel watch entr script expect screen tmux socat nc ncat netcat strace ltrace gdb flock chronic unbuffer",
		"it runs commands from within; cat prints the same":                "less more most man info pg",
		"it runs commands from within; Edit changes files":                 "vim vi nvim view vimdiff ex ed emacs nano pico joe micro code",
		"it runs code that nobody reads":                                   "perl ruby php lua tclsh Rscript deno bun osascript ksh mksh fish csh tcsh pwsh gnuplot bc dc m4 sqlite3 psql mysql",
		"it reaches the network":                                           "curl wget aria2c ftp lynx w3m links dig nslookup host ping traceroute openssl",
		"it runs other programs as its options, files or containers say":   "docker podman kubectl ansible vagrant qemu-system-x86_64 systemd-nspawn bwrap firejail gcc g++ cc c++ clang ld as zip unzip cpio ar patch logger fd ag ack gh",
		"it installs what runs with more rights than the agent has itself": "apt apt-get dpkg yum dnf rpm apk brew snap pacman",
	} {
		add(program{class: opaque, why: why}, names)
	}
}

package policy

import "strings"

// programClass is the class of a program.
type programClass int

const (
	harmless programClass = iota // does what its options and operands say
	builds                       // runs the code of the workspace
	guarded                      // always denied
	opaque                       // runs what cannot be read: another program, code, another machine
	judged                       // its judge decides
)

// operandKind is how a program uses its operands.
type operandKind int

const (
	readsAll operandKind = iota
	nothing              // they are not files
	readsAfterFirst
	writesAll
	writesLast // reads the others
)

// program describes a program.
type program struct {
	class   programClass
	why     string // the reason, of guarded and opaque
	options string // the table of its options; if empty, all are harmless
	args    operandKind
	judge   func(j *judgement, n *Node, c *command) flow
}

func (p *program) reason() string {
	switch {
	case p.class == builds:
		return "mode implementation runs the code of the workspace"
	case p.args == writesAll || p.args == writesLast:
		return "it writes what it names"
	}
	return "it changes nothing"
}

// programs are the known programs and builtins of shells.
var programs = map[string]*program{}

// isProgram reports whether a name is that of a known program.
func isProgram(name string) bool { return programs[name] != nil }

func addPrograms(p program, names string) {
	for name := range strings.FieldsSeq(names) {
		programs[name] = &p
	}
}

func init() { //nolint:gochecknoinits // judges refer to the table that holds them
	// With any options, these only read or print.
	addPrograms(program{}, `cat tac head tail wc nl od hexdump strings cut paste join comm fold fmt expand unexpand rev column cksum md5sum sha1sum
		sha224sum sha256sum sha384sum sha512sum b2sum readlink realpath ls dir vdir du df stat cmp diff zcat`)
	addPrograms(program{args: readsAfterFirst}, "grep egrep fgrep jq")
	addPrograms(program{args: nothing}, `echo true false : pwd tr basename dirname seq sleep nproc arch uname whoami id groups who users tty printenv locale cal ps free
		uptime getconf which whereis type exit return break continue shift times dirs logname expr factor numfmt hostid pathchk tput umask`)

	// These have options that write or run.
	addPrograms(program{options: "bdfghiMnRrVcCmsuz k: t: S: o> T> --output> --compress-program! --files0-from< --key: --field-separator: --buffer-size: --parallel: --temporary-directory> --reverse --unique --numeric-sort --stable --check? --version-sort --human-numeric-sort --ignore-case --zero-terminated --general-numeric-sort --merge --random-sort --month-sort --ignore-leading-blanks --dictionary-order"}, "sort")
	addPrograms(program{options: "dDiw: --decode --ignore-garbage --wrap:"}, "base64 base32")
	addPrograms(program{args: nothing, options: "fnp!"}, "wait") // -p sets a variable
	addPrograms(program{options: "ezirn: o> --output> --random-source< --echo --head-count: --input-range: --zero-terminated --repeat"}, "shuf")
	// tree takes the value of a short option from the next word even within a cluster, so -L,
	// -P and -I are listed without values; -o and -R write.
	addPrograms(program{options: "adflxCDFspughiDANXQnqvtcUrSJIPL --noreport --dirsfirst --gitignore --prune --filelimit: --du --si --charset: --inodes --device --timefmt: --sort: --matchdirs --info --fromfile --filesfirst --ignore-case"}, "tree")
	addPrograms(program{options: "bikLhrsSzZ0e: F: m< f< P: --mime --mime-type --mime-encoding --brief --dereference --no-dereference --compile! C! --uncompress --extension --separator:"}, "file")
	addPrograms(program{args: readsAfterFirst, options: `nNiIsSvwxlLcFPoHhqUup0bA: B: C: e: g: m: t: T: M: j: d: r: f< E: --pre! --pre-glob: --hostname-bin! --search-zip! --files --hidden --glob: --iglob: --type: --type-not:
		--ignore-case --smart-case --line-number --no-line-number --count --count-matches --files-with-matches --files-without-match --fixed-strings --word-regexp --invert-match --only-matching --multiline --multiline-dotall
		--no-ignore --no-ignore-vcs --no-heading --heading --no-filename --with-filename --color: --json --context: --after-context: --before-context: --max-count: --max-depth: --sort: --sortr: --stats --vimgrep --pcre2 --null
		--regexp: --file< --replace: --trim --passthru --pretty --quiet --column --unrestricted --follow --text --type-list --max-columns: --threads: --no-messages --case-sensitive --line-regexp --no-config`}, "rg")
	addPrograms(program{args: writesAll, options: "ai p? --append --ignore-interrupts --output-error?"}, "tee")

	// These write.
	addPrograms(program{args: writesAll, options: "pvm: Z --parents --verbose --mode:"}, "mkdir")
	addPrograms(program{args: writesAll, options: "pv --parents --verbose --ignore-fail-on-non-empty"}, "rmdir")
	addPrograms(program{args: writesAll, options: "acmhfd: t: r< --date: --reference< --time: --no-create --no-dereference"}, "touch")
	addPrograms(program{args: writesAll, options: "cos: r< --size: --no-create --io-blocks --reference<"}, "truncate")
	addPrograms(program{judge: judgeCompress}, "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd")
	addPrograms(program{args: writesAll, judge: judgeRemove}, "rm unlink")
	addPrograms(program{args: writesLast, judge: judgeCopy}, "cp mv ln install")
	addPrograms(program{judge: judgeMktemp}, "mktemp")
	addPrograms(program{judge: judgeUniq}, "uniq xxd")
	addPrograms(program{judge: judgeTar}, "tar")
	addPrograms(program{args: writesAll, options: "lsdewr: --simplify"}, "gofmt")

	// These run code of the workspace or of its dependencies.
	addPrograms(program{class: builds, judge: judgeGo}, "go")
	addPrograms(program{class: builds, judge: judgeMake}, "make gmake")
	addPrograms(program{class: builds, judge: judgeCargo}, "cargo")
	addPrograms(program{class: builds, judge: judgePackages}, "npm pnpm yarn npx")
	addPrograms(program{class: builds, judge: judgePip}, "pip pip3")
	addPrograms(program{class: builds, judge: judgeInterpreter}, "node python python3")
	addPrograms(program{class: builds, args: nothing, options: "qvxslk: m: n: --quiet --verbose --maxfail: --lf --ff --tb: --last-failed --durations: --collect-only --exitfirst --no-header"}, "pytest")

	addShell()
	addWrappers()

	addPrograms(program{class: judged, judge: judgeGit}, "git")
	addPrograms(program{class: judged, judge: judgeFind}, "find")
	addPrograms(program{class: judged, judge: judgeSed}, "sed")
	addPrograms(program{class: judged, judge: judgeAwk}, "awk gawk mawk nawk")

	for why, names := range map[string]string{
		"it changes who acts":         "sudo doas su pkexec runuser sudoedit login newgrp sg setpriv capsh",
		"it ends or stops processes":  "kill pkill killall killall5 skill snice xkill fuser",
		"it turns off the machine":    "shutdown reboot halt poweroff init telinit",
		"it changes who may do what":  "chmod chown chgrp chattr setfacl setcap useradd userdel usermod groupadd passwd chpasswd visudo chsh vipw",
		"it writes to devices":        "dd mkfs mke2fs mkswap fdisk sfdisk parted wipefs hdparm losetup swapon swapoff blkdiscard",
		"it changes the machine":      "mount umount sysctl insmod rmmod modprobe iptables ip6tables nft systemctl service chroot unshare nsenter pivot_root launchctl update-alternatives ldconfig",
		"it runs something later":     "crontab at batch systemd-run atd cron anacron",
		"it destroys data for good":   "shred srm",
		"it changes the shell itself": "alias unalias enable complete compgen compopt bind fc history shopt hash suspend jobs disown bg fg caller logout",
	} {
		addPrograms(program{class: guarded, why: why}, names)
	}
	for why, names := range map[string]string{
		"it runs commands on another machine":                              "ssh scp sftp rsync rsh mosh telnet",
		"it runs commands that come from elsewhere":                        "parallel watch entr script expect screen tmux socat nc ncat netcat strace ltrace gdb flock chronic unbuffer",
		"it runs commands from within; cat prints the same":                "less more most man info pg",
		"it runs commands from within; Edit changes files":                 "vim vi nvim view vimdiff ex ed emacs nano pico joe micro code",
		"it runs code that the policy does not read":                       "perl ruby php lua tclsh Rscript deno bun osascript ksh mksh fish csh tcsh pwsh gnuplot bc dc m4 sqlite3 psql mysql",
		"it reaches the network":                                           "curl wget aria2c ftp lynx w3m links dig nslookup host ping traceroute openssl",
		"it runs other programs named by its options, files or containers": "docker podman kubectl ansible vagrant qemu-system-x86_64 systemd-nspawn bwrap firejail gcc g++ cc c++ clang ld as zip unzip cpio ar patch logger fd ag ack gh",
		"it installs what runs with more rights than the agent has itself": "apt apt-get dpkg yum dnf rpm apk brew snap pacman",
	} {
		addPrograms(program{class: opaque, why: why}, names)
	}
}

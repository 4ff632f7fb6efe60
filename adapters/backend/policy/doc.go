// Package policy decides whether a tool call may be made.
//
// A [Policy] is a mode, a preset, the folders of the workspace, a list of MCP tools,
// and rules. Decide judges one call and returns allow, deny or ask, the reason, and
// the tree of all parts that it judged. It runs nothing and reaches no network. It
// reads the disk to resolve symlinks, to match patterns, and to read the settings of
// the git repositories that a command may reach.
//
// A policy is no sandbox. Mode implementation lets an agent run the code of the
// workspace, which the agent may have written: go test runs whatever the tests do. The
// policy enforces the rest: no command does, in whatever spelling, what it must not do.
// A decision holds for the disk as it is at that time. Whoever can change the disk
// between the decision and the command can deceive it.
//
// # Decisions
//
//	                                        planner                  implementation
//	tools that read, list, search           allow                    allow
//	tools that write, in the workspace      deny                     allow
//	tools that write, elsewhere             deny                     deny
//	web, sub-agents                         unknown                  allow
//	the agent's own lists, questions        allow                    allow
//	MCP tools that are listed               allow                    allow
//	MCP tools that are not, other tools     unknown                  unknown
//	programs that read or print             allow                    allow
//	programs that write, by place           deny                     as tools that write
//	programs that run workspace code        unknown                  allow, in the workspace
//	git, if its repository may run programs unknown                  unknown
//	guarded programs (sudo, kill, dd …)     deny                     deny
//	programs that run other programs,       unknown                  unknown
//	  code or machines that cannot be read
//	all else: programs, options, constructs unknown                  unknown
//	what cannot be read: $x as a program,   deny                     deny
//	  eval "$x", … | sh, a syntax error
//	settings that change what runs:         deny                     deny
//	  PATH=, LD_PRELOAD=, git -c alias…
//	instructions: AGENTS.md, CLAUDE.md      deny                     unknown
//
// "unknown" is the value of Policy.Unknown: deny, or ask if a user answers. An allow rule
// replaces it for a tool or a program with its options, and nothing else. The bounds (deny) are above all rules. If a command
// cannot be read, the policy does not ask, because the user could not read it either;
// the model receives the reason and can write the command in a plainer way.
//
// A preset is an outer bound on tools. read-only has Read, Glob, Grep, WebFetch,
// WebSearch. safe-edit has Edit too, but an Edit that creates, moves or removes a file
// counts as Write. no-bash has all tools except Bash. full has all. Tools that only
// communicate (TodoWrite, AskUserQuestion, ExitPlanMode …) are in each preset, and so
// are listed MCP tools, because the user listed them. For all MCP tools, list "*".
//
// The effect of a decision is that of its worst part: deny, then ask, then allow.
//
// # Commands
//
// A command is allowed only if all of it is on a list of what is known to be harmless.
// The programs with their subcommands and options are in programs.txt, with what each reads
// and writes. The constructs are those of this package: lists, pipelines, if, for, while,
// case, [ ] and [[ ]], subshells, substitutions of commands and processes, redirections,
// here-documents, assignments of variables that nothing else reads. Not on the list is what
// is needed rarely and hard to judge: arithmetic with names, integer and special variables,
// declare, printf -v, functions, traps, coprocesses, aliases, computed subscripts, awk beyond
// patterns and print, sed beyond s, d and p, and what shells read in different ways: a line that
// ends in a word or a comment with a backslash, single quotes in "${x:-…}", a process
// substitution in ${…}, {Z..a}, braces of which only some are a list, a line of a here-document that
// begins with its end. The reason names the construct and what to write instead.
//
// A command is parsed as bash parses it, and every simple command in it is judged, also in
// the texts that sh -c, git rebase --exec and similar commands run, and after env,
// xargs, find -exec, timeout and other wrappers. A text for sh is parsed as POSIX too,
// because sh may be either. What is denied in a construct that is unknown stays denied.
// Words are expanded as the shell would: quotes, escapes, braces, ~, $HOME and $PWD. Any
// other variable is unknown, and so is the word that contains it: it is denied as a program
// and as a path to write, whatever the command assigned to it before. As a word that may become an option it is unknown, except for
// programs without an option that does more than read.
//
// cd is followed. A command that may run in one of several folders is judged in each. If
// the folder is unknown, relative paths must not be written.
//
// A long option must be written in full. An abbreviation is unknown, because programs.txt
// need not have the option that it stands for.
//
// # Git
//
// git runs programs that the settings of a repository name: fsmonitor, filters, textconv,
// external diff, included files, hooks. Every repository in and above the folders of a
// command is read, with its submodules and the local folders that are its remotes. If a
// setting is not known to run nothing, the command is unknown. So is it if the folder is
// unknown. So is git where an earlier part of the command may make a repository: by cp -r,
// mv, ln, tar -x, git checkout, or a file HEAD. Hooks of a folder named .git belong to the user,
// because neither a clone nor an agent writes there; hooks of other repositories in the workspace
// came with it. Those must not refer to other repositories, hold links, or be partial clones. In a partial clone of
// the user, commands that read fetch missing objects from the user's remote.
//
// # Paths
//
// Symlinks and .. are resolved in the part of a path that exists; the rest is taken
// literally. A path in /proc that may lead elsewhere, such as /proc/self/cwd/x, is denied. A
// tool's path that a runtime may read in another way (@file and file: URLs of Pi) is unknown. A
// write to /dev/stdout or /dev/fd/N is denied, because Linux opens the file behind it again.
// Writes must be in the roots, and outside of .git and of what steers a runtime:
// settings, plugins, hooks, MCP servers, agents, skills, in any folder. control.txt has them;
// each adapter states those of its runtime. A file that only instructs a runtime (AGENTS.md)
// is unknown. With ConfineReads, reads must be in the roots too.
//
// Tools that run the code of the workspace may do anything there, so each of their words
// that may be a path must be in the roots too, and must not be a control file, also behind
// --. If one is unknown, or an address, the command is unknown. The words of a script
// (node x.js, python x.py, go run) are its own. A file of a clone may name the cargo, yarn,
// pnpm or go that runs, so a planner does not ask these for their version. A remote of git is judged likewise: its
// name is allowed, because the settings of the repository say where it is.
//
// If a part of a command may make a symlink (cp -P, mv of a link, ln -s, tar -x, git
// checkout, venv, npm), a later part that writes through that place is unknown, because the
// link is not on the disk yet; with ConfineReads, so is a part that reads. Code of the
// workspace that makes a link is not noticed.
//
// This holds for the paths that a command names. If the names are unknown, as in
// cp -r x/. ., cp "$f" . and tar x over a root, the command is denied; into a folder below, an
// archive may unpack anything. The policy does not look at the files that git restores
// from its history without their names (checkout of a branch, stash pop), that a package installs, or that code of the
// workspace writes; they may be settings of the runtime. Other writes that become code
// are the work of mode implementation: a Makefile, a test, the scripts of package.json.
// Whoever runs them must not have more rights than the agent.
//
// A rule such as Read(**/.env) holds for tools, also for a search that prints lines of files
// below its folder, for the operands and redirections of commands, and for what moves,
// packs or formats a file. It holds for files that git names
// too: git blame .env, git show HEAD:.env, git log -p -- .env, and patterns that may match.
// For grep -r, rg, diff -r, tar and cp -r it holds if such a file is below the folder now,
// or below a link there that the command follows.
// For git diff, git log -p, git show and git grep it holds if such a file is tracked now. No
// path rule holds for what the code of the workspace reads, nor for files of the history
// that are tracked no more, or that an object's id names, nor for copies in an archive.
//
// # Rules
//
// ParseRule documents their forms, Load the file. A rule that denies or asks also holds
// if it may match: npm $x may be npm publish. It holds for a program in any folder, and
// for git's subcommands after git's own options. A rule that allows holds only for the
// words as they are written. A fetch whose host is neither a name in ASCII nor an address in its
// usual form is denied, because a client makes another host of it.
//
// # Runtimes
//
// The tool Bash is judged as bash. What zsh reads otherwise is not allowed: glob qualifiers,
// =program, >! FILE, $=x, $x[y], and words of exit and break that are no numbers. Codex wraps commands in
// bash -lc '…' and may join the words of the wrapper without quotes, so words after the
// text of a shell are denied.
package policy

// Package policy answers one question: may this tool call be made?
//
// A [Policy] is a mode, a preset, the folders of the workspace, a list of MCP
// tools, and rules. Decide judges one call and says allow, deny or ask, why, and
// the tree of all that was judged. Nothing is run, no network is reached; the
// disk is read to find where symlinks lead and what patterns match.
//
// It is no sandbox. Mode implementation lets an agent run the code of the
// workspace, which the agent may have written: go test does what the tests do.
// What a policy holds is the rest: that no command says, in whatever spelling,
// what it must not say. What the disk is at the time of the decision is what is
// judged; who can change it between that and the command can deceive it.
//
// # What is decided
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
//	programs that write, by where           deny                     as tools that write
//	programs that run workspace code        unknown                  allow, in the workspace
//	guarded programs (sudo, kill, dd …)     deny                     deny
//	programs that run other programs,       unknown                  unknown
//	  code or machines nobody reads
//	programs nobody knows, ./scripts        unknown                  unknown
//	what cannot be read: $x as a program,   deny                     deny
//	  eval "$x", … | sh, no parse
//	settings that change what runs:         deny                     deny
//	  PATH=, LD_PRELOAD=, git -c alias…
//
// "unknown" is what Policy.Unknown says: deny, or ask where somebody answers. An
// allow rule takes the place of it, and of nothing else. The bounds (deny) stand
// above all rules. What nobody can read is not asked about, because whoever is
// asked could not read it either; the model is told why and can write it plainer.
//
// The presets are an outer bound on tools: read-only has Read, Glob, Grep,
// WebFetch, WebSearch; safe-edit has Edit, too, but an Edit that makes, moves or
// removes a file counts as Write; no-bash has all but Bash; full has all. Tools
// that only talk (TodoWrite, AskUserQuestion, ExitPlanMode …) are in each, and so
// are MCP tools that are listed: whoever lists them wants them. Where seed 002
// says that full has all tools, MCP: ["*"] says so here.
//
// A decision is as bad as its worst part: deny, then ask, then allow.
//
// # Commands
//
// A command is parsed as bash parses it, and every simple command of it is
// judged: in lists, pipelines, loops, functions, traps, substitutions of
// commands and processes, here-documents, arithmetic; in the texts that sh -c,
// eval, git rebase --exec and their like run; behind env, xargs, find -exec,
// timeout and other wrappers. A text for sh is parsed as POSIX, too, since sh may
// be either. Words are taken as the shell would make them: quotes, escapes,
// braces, ~, $HOME and $PWD. Any other variable is unknown, and so is what it
// stands in: as a program that is denied, as a path to be written too, as a word
// of a program whose options can do harm too.
//
// cd is followed. A command that may run in one of several folders is judged in
// each; where nobody knows the folder, relative paths are not written.
//
// Programs are known by tables of their options (programs.go and beside it). A
// program with no table has only options that read and print. Long options may be
// cut short, as getopt takes them. A function must not take the name of a
// program; one that is surely declared may be called.
//
// Arithmetic counts names only when all that the command assigns to them are
// numbers: a shell evaluates what they hold, and a[$(cmd)] runs cmd.
//
// # Paths
//
// Symlinks and .. are resolved of the part that exists; the rest is taken as it
// is written. Writes stay in the roots, and out of what decides over the agent
// itself: .git, .claude, .codex, .mcp.json. With ConfineReads reads stay in, too.
//
// That holds for what a command names. Where nobody knows which names come, as in
// cp -r x/. . and tar x over a root, it is denied; into a folder below, an archive
// may unpack whatever it holds. What git takes out of its own history (checkout,
// stash pop), what a package brings and what code of the workspace writes when it
// runs is not looked at, and may be settings of the runtime's. Elsewhere a write
// that becomes code is the work of mode implementation: a Makefile, a test, the
// scripts of package.json. Who runs it must not have more rights than the agent.
//
// A rule such as Read(**/.env) holds for tools and for the operands and
// redirections of commands; what a program reads by itself below a folder (rg,
// tar, git) no rule of paths sees.
//
// # Rules
//
// ParseRule has their forms, Load the file. Rules that deny or ask also hold where
// they may match: npm $x may be npm publish. They mean a program wherever it lies,
// and git's subcommands behind git's own options. A rule that allows holds only
// for the words as they are written.
//
// # Runtimes
//
// The tool Bash is taken for bash. Where it is zsh, glob qualifiers and =program
// are denied as what they are in bash: an extended pattern, a program nobody
// knows. Codex wraps commands, bash -lc '…', and may join the words of the
// wrapper without quotes: words behind the text of a shell are denied.
package policy

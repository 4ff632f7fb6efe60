// Package opencoderun is the adapter for `opencode run --format json`: a process for each turn, with
// the message on stdin and a line on stdout for each part of a message that is complete. It was
// tested with 1.18.33. Use package opencode (opencode serve) for deltas, tools that run, questions
// and sub-agents.
//
// # Sessions
//
//	Open     runs `opencode --version`, so that a missing program is an error of Open. It starts no
//	         turn: session_ready follows the first message, because the runtime makes the session
//	         then. Resume is passed on with the first message, too; a session that does
//	         not exist ends the session in an error.
//	Send     starts a process: opencode run --format json … [--session ID], its stdin is the message,
//	         because the runtime puts arguments with spaces in quotation marks. While one runs,
//	         messages wait here (queue) and start the next turns one by one. Attachments
//	         are --file: those without a path are written to files, which are removed after the turn.
//	Stop     SIGTERM to the process, which then prints nothing more; a turn that has not begun is
//	         stopped when it begins. The next message resumes the session.
//	Withdraw, StopAll   take back messages that wait.
//	SetModel, SetMode   apply to the next process.
//	Close    waits for the process like a turn's end, then SIGTERM and SIGKILL.
//
// The modes are never (--dangerously-skip-permissions, which 1.18 calls --auto: what the settings
// would ask about is allowed, and what they deny is denied) and plan (--agent plan as well). The
// others are ErrUnsupported. MCP is
// added to the settings with OPENCODE_CONFIG_CONTENT. Effort is --variant.
//
// # Lines
//
//	step_start     the first of a process: session_ready, once; turn_start, an empty thinking,
//	               user_message (live only: the wire has none)
//	text           delta and block_end; the wire has no deltas
//	reasoning      thinking
//	tool_use       tool_start and tool_result: a call has one line, when it has ended; todowrite: plan
//	step_finish    usage, of the turn so far
//	error          the error of the turn
//
// Anything else is notice unknown_message with the raw line.
//
// Parts come in the order in which they end, and so do their events: a call that ends soon comes
// before the text that the model wrote before it, which is complete when the model's reply is.
//
// # Ends
//
// The turn ends with an error, or with the step for whose end the model gives a reason other than
// calls; the next message waits for the end of the process. The exit code states nothing: that of
// 1.15 is 0 after an error too. What comes outside of a step is late and dropped. A call that is
// not allowed ends the turn with its process. A process that exits within its turn and was not
// stopped ends the session in error crash, with the stderr.
//
// The runtime goes on after a reply of the model that has no end; after 5 of them in a row the
// adapter ends the turn in an error. It asks a model that fails again and again, without a line. No
// tool runs between two steps, so that silence there is one of the model: after Limits.Idle and
// Limits.Request it ends the session in an error. Silence within a step may be a tool that runs,
// and has no limit.
//
// # Differences between versions
//
// 1.15 may exit before it has printed the last lines, which then are lost.
package opencoderun

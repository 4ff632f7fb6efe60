// Package codexexec is the adapter for `codex exec --json`: a process for each turn, with the
// message on stdin and events of whole items on stdout. It was tested with 0.98.0, 0.120.0 and
// 0.171.0. Use package codex (codex app-server) for deltas, questions and steering.
//
// # Sessions
//
//	Open     runs `codex --version`, so that a missing program is an error of Open. It starts no
//	         turn: session_ready follows the first message, because the runtime makes the thread then.
//	         Resume is passed on with the first message, too; a thread that does not exist ends
//	         the session in an error.
//	Send     starts a process: codex exec --json … [resume THREAD], its stdin is the message. While one
//	         runs, messages wait here (queue) and start the next turns one by one. Pictures are
//	         --image: those without a path are written to files, which are removed after the turn.
//	         Other attachments are ErrUnsupported, and so is a message without text: the program
//	         would exit with an error.
//	Stop     SIGTERM to the process; a turn that has not begun is stopped when it begins. The end of
//	         the process is done{stopped}. The next message resumes the thread. Version
//	         0.120.0 may not have stored it if the turn was stopped at once: the message begins
//	         another thread, and a notice reports that.
//	Withdraw, StopAll   take back messages that wait.
//	SetModel, SetMode   apply to the next process.
//	Close    waits for the process like a turn's end, then SIGTERM and SIGKILL.
//
// The modes are those in which nobody is asked: never (sandbox danger-full-access), read-only and
// dont-ask (sandbox read-only: what would write fails). The others are ErrUnsupported.
// Schema becomes --output-schema, MCP and Config
// become -c. Instructions become -c developer_instructions; if they replace the runtime's own,
// they become a file and -c model_instructions_file. Effort becomes -c model_reasoning_effort. MCP servers
// over server-sent events are ErrUnsupported.
//
// # Lines
//
//	thread.started         session_ready, once
//	turn.started           turn_start, an empty thinking, user_message (live only: the wire has none)
//	turn.completed         usage, result (the last message's text), done
//	turn.failed            error; its code is read from the words, which are all that the wire has
//	error                  "Reconnecting…": notice retry. Any other is the end of the turn if turn.failed
//	                       follows; if another line does, it was a notice
//	item.*                 by the item's type, below
//
// Anything else is notice unknown_message with the raw line. The items:
//
//	agent_message          delta and block_end; the wire has no deltas
//	reasoning              thinking; only summaries are on the wire
//	command_execution      Bash; command is without its shell. Output comes at the end
//	file_change            Write if it only adds files, else Edit; the changes have no diff
//	mcp_tool_call          mcp__server__tool
//	web_search             WebSearch or WebFetch, when it has ended: before, neither query nor page is stated
//	todo_list              plan; the last line, which repeats the list, gives no event
//	collab_tool_call       spawn_agent is Task with subagent_spawn; what a sub-agent does is not on the wire
//	error                  notice warning, also before the turn: it ends nothing
//
// Items are counted from item_0 in each process, so tool_use_id is TURN.ITEM. Usage is that of the
// thread so far, of resumed processes too.
//
// # Ends
//
// The turn ends with its line. The process may live on for five seconds, in which it sends its
// statistics; the next message waits for its end. A process that exits within its turn and was not
// stopped ends the session in error crash, with the stderr.
//
// # Differences between versions
//
//	                       0.98             0.120          0.171
//	usage                  no reasoning     no reasoning   reasoning_output_tokens
//	reasoning              an item a part   one item       one item
package codexexec

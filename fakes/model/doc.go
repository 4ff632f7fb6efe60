// Package model offers a scripted model API on loopback that real runtimes talk to. It is
// not part of the stable interface.
//
// A scenario holds its replies. It records every request, far from the wire that an
// adapter parses, and so it is the witness by which adapters are judged.
//
// # Endpoints
//
//	POST /v1/messages               Anthropic Messages, streamed and whole
//	POST /v1/messages/count_tokens  a fixed number
//	POST /v1/responses              OpenAI Responses, streamed and whole
//	POST /v1/chat/completions       chat completions as OpenAI and others offer them, streamed and whole
//	HEAD /                          an empty response
//
// Any other request gets 404. If it asks a model, it is also a refusal (Err).
//
// # Which line answers
//
// A request belongs to an agent: the main one, or that of a `-- model NAME --`
// section. One that offers nothing but the API's own search of the web belongs to
// `-- model search --`: Claude Code's WebSearch makes such requests, in a separate
// conversation. Claude Code marks the requests of a sub-agent with a header; the
// section is found by its first text, which holds the prompt of a subagent call.
// Codex sends the agent's name, else the prompt is looked for too.
//
// A request brings what no earlier request of that agent held:
//
//	m1          a message of the scenario
//	result:t1   the result of a tool call
//	prompt      the task of a sub-agent: its first request
//	query       the query of a search: its first request
//	task        the runtime's note that something in the background has ended
//	compact     a request for a summary of the conversation
//	retry       nothing, and the request before it has not ended well
//	again       nothing, and the request before it was answered
//
// A chat completion that offers no tool and asks for a title gets a fixed one. It takes no line,
// and the witness does not have it.
//
// A retry is answered by the next unused of the {"retry":true} lines that stand
// right below the line that failed; if there is none, that line is used again. Any
// other request is answered by the line that is bound to what it brings ({"on":…}),
// or else by the next unused line that is bound to nothing. Without a line the request is
// refused with 400, and Err names the request. It is also refused if the line calls a
// tool that the runtime does not offer. A runtime that asks again after a refusal is
// refused again.
//
// # How parts become a stream
//
// Each delta of the scenario is one event, flushed. Each text and each think part is
// a separate block, and a block ends when the next part begins. But hold, cut and
// stall are no blocks: they leave the block before them open, and text after a
// hold continues the same block. Chat completions have no blocks: texts that follow each other are
// one text, also in the witness. To break off right after a finished block, begin another:
// {"text":["a"]},{"text":[]},{"cut":true}.
//
// When the connection breaks, a client may discard what it has received but not yet read,
// and Claude Code does. If the text before a cut must be seen, the scenario puts a hold
// between them and releases it when the text is on the wire:
// {"text":["a"]},{"hold":"h1"},{"cut":true}.
//
// A fail at the start of a reply is the HTTP answer, and so it is for a reply that is not
// streamed; later, it is the API's error event within the stream (of chat completions, a chunk
// with an error). For Codex, the message of a
// kind with the header retry-after also holds how long to wait. A cut or close before
// any text leaves no event at all.
//
// # Tools
//
// Scenarios name tools by what they do, with one neutral input for all runtimes.
// Paths are relative to the workspace. An unknown key is refused.
//
//	shell     command, background?, yield_ms?, ask?, reason?, timeout_ms?
//	          tty?
//	read      path, from?, lines?
//	write     path, content
//	edit      path, old, new (whole lines)
//	search    pattern, path?
//	web       url | query, pattern? (found in a page; Codex only)
//	view      path (of an image)
//	client    tool, arguments?: a tool of the client
//	discover  query: a search for tools that the runtime holds back
//	structured  value: the final answer where a schema asks for one; not Codex
//	mcp       server, tool, arguments?
//	subagent  name, prompt, background?, type? (as a file of the workspace defines it) | name and one
//	          of tell (a message), close, and on Codex only
//	          wait (until it, or one, has a result), resume, interrupt
//	ask       questions: [{id?, header, question, options: [{label, description?}], multi?}]
//	plan      (text), steps?
//	todo      steps: [{step, status?}], explanation?
//	patch     changes: [{add, content} | {delete} | {update, move?, old, new}]
//	stdin     to (the call of a command that runs), text
//	other     name, namespace?, input: any name, offered or not; script, instead of the input, for
//	          one that takes a text (Codex)
//
//	          Claude Code             Codex
//	shell     Bash                    exec_command
//	read      Read                    exec_command cat
//	write     Write                   apply_patch, Add File
//	edit      Edit                    apply_patch, Update File
//	search    Grep                    exec_command grep -rn
//	web       WebFetch, WebSearch     the hosted web search
//	view      Read                    view_image
//	mcp       mcp__SERVER__TOOL       TOOL of the namespace mcp__SERVER; mcp__SERVER__TOOL
//	client    mcp__…__TOOL            TOOL
//	discover  ToolSearch              tool_search
//	structured  StructuredOutput      —
//	subagent  Agent, Task             spawn_agent, wait_agent, resume_agent, interrupt_agent
//	  tell    SendMessage             send_input, followup_task
//	  close   TaskStop                close_agent
//	ask       AskUserQuestion         request_user_input
//	plan      ExitPlanMode            update_plan
//	todo      TodoWrite, TaskCreate   update_plan
//	patch     —                       apply_patch
//	stdin     —                       write_stdin
//
// shell: background makes Claude Code run the command in the background; Codex
// waits for it only 250 ms then (yield_ms), and 30 s otherwise, which is its
// maximum, so that a slow machine changes nothing. ask makes Codex ask for an
// escalation; whether Claude Code asks is a matter of its permission mode. TaskCreate
// takes a single step. Claude Code drops the text of plan: its plan is a file that the
// runtime names. Codex takes update_plan for a list of steps and refuses it in plan mode, where a plan
// is text between <proposed_plan> tags. A summary (compact) of Claude Code is between <summary> tags.
//
// Many agents use chat completions, and each has its own tools. A call is made of the tool that
// the request offers under one of these names, with the members that its schema declares:
//
//	shell     bash, shell           subagent  task
//	read      read, read_file       ask       question, ask
//	view      read, read_file       todo      todowrite
//	write     write, write_file     patch     apply_patch
//	edit      edit, edit_file       web       webfetch, websearch
//	search    grep, search          mcp       SERVER_TOOL, mcp__SERVER__TOOL
//	client    TOOL                  structured  StructuredOutput
//
// A tool is offered if it is among the request's tools or in the list of
// deferred tools that the runtime gives in a message.
package model

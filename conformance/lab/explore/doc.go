// Package explore looks for scenarios that make a subject fail. It is not part of the
// stable interface.
//
// A grammar (grammar.go) composes scenarios from turns, tools, questions, stops,
// messages during a turn, sub-agents, failures of the model, resumed sessions and more,
// by seed. Each is performed on the real runtime with the scripted model: it is recorded,
// the recording is replayed to the subject with faults, and the subject drives the
// runtime itself. The checks judge by the witness, so they hold for any scenario.
//
// A scenario that shows a wire shape which neither the corpus nor an earlier scenario
// showed is kept, and most later scenarios are mutants of the kept ones. A failure is
// tried again and made smaller, and becomes a corpus of one scenario and one case.
//
// # Defects of the runtimes
//
// Exploring found these, which are defects neither of the reference adapters nor of the
// checks, and may find them again.
//
// Claude Code 2.1.329, an empty turn after a kill. A sub-agent that works beside the turn
// ends, and the process is killed before the turn that the runtime begins for that end has
// asked the model (within about 100 ms). When the session is resumed, the runtime reports a
// turn that no message began: system/init and a result without an error, with no tokens, and
// no request to the model. Either the turn should ask the model, as it does without the kill,
// or no turn should be reported. It showed live (turnspec explore --runtime claude --seed 112,
// scenario 1), in two of two tries. The adapter reports a turn with the cause task, without
// content, which ends in done; turn.unprompted fails because no request belongs to it.
//
//	-- client --
//	send m1: Step 1.
//	wait hold h1
//	wait hold h2
//	release h2
//	wait end m1
//	release h1
//	wait task t1
//	kill SIGKILL
//	open resume
//	-- model --
//	[{"on":"m1"},{"tool":"subagent","id":"t1","input":{"background":true,"name":"scout","prompt":"Count the birds."}}]
//	[{"text":["It is"]},{"hold":"h2"},{"text":[" on its way."]}]
//	[{"on":"task"},{"text":["It is over."]}]
//	-- model scout --
//	[{"hold":"h1"},{"text":["There are five."]}]
package explore

// Package agentui translates events to the event classes of Agent UI, a draft standard
// for agent interaction surfaces, and checks such streams.
//
// # Envelope
//
// A session is one stream. sequence counts 1, 2, 3 …; runId and turnId are SESSION/TURN,
// threadId and sessionId are the session. Each event names its owner (which part of the system
// states the fact), its scope and its phase. payload holds the data of Turnspec's event, except
// where noted below. Events of a sub-agent have agentId.
//
// # Classes
//
//	session_ready                session.opened, or session.hydrated if it was resumed
//	session_end                  session.closed
//	turn_start                   run.started
//	thinking without text        run.status
//	user_message                 run.status with the control steer or queue, if it entered the running turn
//	delta, thinking              text.delta, reasoning.delta: partId is the block, payload {"text"}
//	block_end, thinking done     text.final, reasoning.summary: payload {"text","status"}
//	tool_start                   tool.started, tool.args
//	tool_output                  tool.output.delta
//	tool_progress                tool.progress
//	tool_result                  tool.result, or tool.failed if it failed, was denied or interrupted;
//	                             and the events of the changed files
//	permission_request           action.required: payload with action_type tool_approval
//	permission_resolved          action.resolved, evidence.changed: who allowed what
//	interrupt                    action.required: action_type structured_input, or plan_decision
//	interrupt_resolved           action.resolved
//	plan                         plan.delta with the whole list; plan.final once all steps are completed
//	queue                        queue.changed
//	task                         agent.spawned, agent.changed, agent.completed; task.changed of a command
//	component_update, _remove    state.delta
//	model_changed, mode_changed  context.changed, permission.changed
//	compaction                   context.compaction.started, context.compaction.completed
//	checkpoint                   evidence.changed
//	usage, stats of result       metric.changed
//	notice, error of the session diagnostic.changed
//	done, error                  run.finished, run.failed; a stopped turn is finished, not failed
//	any other event              data.NAME with the name of its type, which is no class of the draft
//
// A final text replaces the deltas of its part, and never adds to them. That of a retracted
// block is empty. A changed file is an artifact, whose artifactId is its path: artifact.created,
// updated or deleted, artifact.version.created, and artifact.diff.ready. Its content is not copied:
// artifactReadRef and artifactDiffRef name the tool_result that holds it, SESSION#SEQ.
//
// The classes of teams, reviews, exports and handoffs are not used, because no event states
// these facts. Outputs are not off-loaded: payload holds them.
package agentui

// Package clients answers one question: do clients that we did not write see of
// a stand-in what they see of the runtime?
//
// Each client performs a scenario twice: against the real runtime with the
// scripted model, offline, and against the stand-in that plays the recorded
// case. What the client itself says of it (its messages, events, session
// updates, results, errors) must be the same, but for what the rules of
// rules_test.go name. The clients are pinned in package-lock.json and come from
// the npm registry; `make test-clients` installs them and runs all of it. The
// drivers (*.mjs) hold no wire: they call the client's own interface, one act of
// the scenario at a time, and print what it gives them.
//
//	claude-sdk   @anthropic-ai/claude-agent-sdk       query() over `claude -p`
//	claude-acp   @agentclientprotocol/claude-agent-acp  the same, as an ACP agent
//	codex-sdk    @openai/codex-sdk                     `codex exec --experimental-json`
//	codex-acp    @agentclientprotocol/codex-acp        `codex app-server`, as an ACP agent
package clients

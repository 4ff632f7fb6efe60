// Package clients tests stand-ins with clients of other vendors. It has no code
// besides its tests.
//
// Each client performs a scenario twice: with the real runtime and the scripted
// model, offline, and with the stand-in that replays the recorded case. The output
// of the client (messages, events, session updates, results, errors) must be the
// same, except for what the rules in rules_test.go list. The clients are pinned in
// package-lock.json and come from the npm registry; `make test-clients` installs
// them and runs the tests. The drivers (*.mjs) contain no wire. They call the
// interface of the client for each step of the scenario and print its output.
//
//	claude-sdk   @anthropic-ai/claude-agent-sdk       query() over `claude -p`
//	claude-acp   @agentclientprotocol/claude-agent-acp  the same, as an ACP agent
//	codex-sdk    @openai/codex-sdk                     `codex exec --experimental-json`
//	codex-acp    @agentclientprotocol/codex-acp        `codex app-server`, as an ACP agent
//
// One client talks to the scripted model itself, because no runtime does it in this way:
//
//	ai-sdk       ai, @ai-sdk/openai-compatible         chat completions
package clients

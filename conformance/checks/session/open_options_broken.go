package session

import (
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var opensWithAnyModel = broken.Adapter{
	Name: "opens-with-any-model", Sentence: "opens a session with the runtime's default model instead of the given one",
	Proves:   "session.open-options",
	Mutation: broken.Opening(func(o *conformance.Open) { o.Model = "" }),
}

var opensInAnyMode = broken.Adapter{
	Name: "opens-in-any-mode", Sentence: "opens a session in a mode that asks for nothing",
	Proves:   "session.open-options",
	Mutation: broken.Opening(func(o *conformance.Open) { o.Mode, o.Ask = adapters.ModeNever, false }),
}

var opensElsewhere = broken.Adapter{
	Name: "opens-elsewhere", Sentence: "opens a session in another folder",
	Proves:   "session.open-options",
	Mutation: broken.Opening(func(o *conformance.Open) { o.Dir = "/play" }),
}

var forgetsTheInstructions = broken.Adapter{
	Name: "forgets-the-instructions", Sentence: "opens a session without the instructions for the model",
	Proves:   "session.open-options",
	Mutation: broken.Opening(func(o *conformance.Open) { o.Instructions = "" }),
}

var addsTheInstructions = broken.Adapter{
	Name: "adds-the-instructions", Sentence: "adds instructions to those of the runtime that are to replace them",
	Proves:   "session.open-options",
	Mutation: broken.Opening(func(o *conformance.Open) { o.ReplaceInstructions = false }),
}

var forgetsTheEffort = broken.Adapter{
	Name: "forgets-the-effort", Sentence: "opens a session without the level of reasoning",
	Proves:   "session.open-options",
	Mutation: broken.Opening(func(o *conformance.Open) { o.Effort = "" }),
}

var forgetsTheLimits = broken.Adapter{
	Name: "forgets-the-limits", Sentence: "opens a session without the limits of requests and cost",
	Proves: "session.open-options", Runtime: "claude", Why: "Codex has no such limits",
	Mutation: broken.Opening(func(o *conformance.Open) { o.MaxRequests, o.MaxCost = 0, 0 }),
}

var forgetsTheFolders = broken.Adapter{
	Name: "forgets-the-folders", Sentence: "opens a session without the further folders",
	Proves:   "session.open-options",
	Mutation: broken.Opening(func(o *conformance.Open) { o.ExtraDirs = nil }),
}

var readsAllSettings = broken.Adapter{
	Name: "reads-all-settings", Sentence: "opens a session with all sources of settings instead of the given ones",
	Proves: "session.open-options", Runtime: "claude", Why: "Codex has no choice of settings",
	Mutation: broken.Opening(func(o *conformance.Open) { o.SettingSources = nil }),
}

var forgetsTheServers = broken.Adapter{
	Name: "forgets-the-servers", Sentence: "opens a session without the MCP servers",
	Proves:   "session.open-options",
	Mutation: broken.Opening(func(o *conformance.Open) { o.MCP = nil }),
}

var resumesWithoutTheServers = broken.Adapter{
	Name: "resumes-without-the-servers", Sentence: "resumes a session without the MCP servers",
	Proves: "session.open-options",
	Mutation: broken.Opening(func(o *conformance.Open) {
		if o.Resume != "" {
			o.MCP = nil
		}
	}),
}

var forgetsTheHeaders = broken.Adapter{
	Name: "forgets-the-headers", Sentence: "opens a session with MCP servers over HTTP without their headers",
	Proves:   "session.open-options",
	Mutation: broken.Servers(func(x *adapters.MCPServer) { x.Headers = nil }),
}

var forgetsTheSchema = broken.Adapter{
	Name: "forgets-the-schema", Sentence: "opens a session without the schema of the final answer",
	Proves: "session.open-options", Runtime: "claude", Why: "the one scenario of Codex with a schema ends in lines that a killed runtime may or may not have written",
	Mutation: broken.Opening(func(o *conformance.Open) { o.Schema = nil }),
}

var hooksSomethingElse = broken.Adapter{
	Name: "hooks-something-else", Sentence: "registers each hook for one tool only",
	Proves: "session.open-options", Runtime: "claude", Why: "Codex calls no hooks of a client",
	Mutation: broken.Opening(func(o *conformance.Open) {
		o.Hooks = slices.Clone(o.Hooks)
		for i := range o.Hooks {
			o.Hooks[i].Matcher = "Glob"
		}
	}),
}

var keepsNoCopies = broken.Adapter{
	Name: "keeps-no-copies", Sentence: "opens a session without the checkpoints that the client asked for",
	Proves: "session.open-options", Runtime: "claude", Why: "Codex has no checkpoints",
	Mutation: broken.Opening(func(o *conformance.Open) { o.Checkpoints = false }),
}

var mistakesTheTransport = broken.Adapter{
	Name: "mistakes-the-transport", Sentence: "reaches an MCP server of server-sent events by streamable HTTP",
	Proves: "session.open-options", Runtime: "claude", Why: "Codex has no such transport",
	Mutation: broken.Servers(func(x *adapters.MCPServer) { x.SSE = false }),
}

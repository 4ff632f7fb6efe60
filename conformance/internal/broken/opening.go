package broken

import (
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
)

// opening makes a mutation of what a session is opened with.
func opening(f func(o *conformance.Open)) mutation { return mutation{open: f} }

// openings are broken in what they tell the runtime of what a session is opened
// with.
func openings() []Adapter {
	return []Adapter{
		{
			Name: "opens-with-any-model", Sentence: "opens a session with the runtime's default model, whichever was asked for",
			Fails:    []string{"session.opened-as-asked"},
			mutation: opening(func(o *conformance.Open) { o.Model = "" }),
		},
		{
			Name: "opens-in-any-mode", Sentence: "lets everything run, whatever was to be asked",
			Fails:    []string{"session.opened-as-asked"},
			mutation: opening(func(o *conformance.Open) { o.Mode, o.Ask = adapters.ModeNever, false }),
		},
		{
			Name: "opens-elsewhere", Sentence: "opens a session in another folder",
			Fails:    []string{"session.opened-as-asked"},
			mutation: opening(func(o *conformance.Open) { o.Dir = "/play" }),
		},
		{
			Name: "forgets-the-servers", Sentence: "opens a session without the MCP servers",
			Fails:    []string{"session.opened-as-asked"},
			mutation: opening(func(o *conformance.Open) { o.MCP = nil }),
		},
		{
			Name: "forgets-the-schema", Sentence: "does not say which form the final answer is to have",
			Fails: []string{"session.opened-as-asked"}, Runtime: "claude", Why: "the one scenario of Codex with a schema ends in lines that a runtime which is killed may or may not have said",
			mutation: opening(func(o *conformance.Open) { o.Schema = nil }),
		},
		{
			Name: "hooks-something-else", Sentence: "has its hooks called for one tool, whatever they are for",
			Fails: []string{"session.opened-as-asked"}, Runtime: "claude", Why: "the hooks of Codex are no client's",
			mutation: opening(func(o *conformance.Open) {
				o.Hooks = slices.Clone(o.Hooks)
				for i := range o.Hooks {
					o.Hooks[i].Matcher = "Glob"
				}
			}),
		},
		{
			Name: "forks-by-resuming", Sentence: "goes on in the session that was to be forked",
			Fails:    []string{"session.fork-independent", "session.opened-as-asked", "session.provider-id", "session.resume-context"},
			Only:     map[string]string{"session.fork-independent": "claude", "session.provider-id": "claude", "session.resume-context": "codex"}, // an option of Claude Code; Codex has a request of its own
			mutation: opening(func(o *conformance.Open) { o.Fork, o.At = false, "" }),
		},
		{
			Name: "sets-something-else", Sentence: "changes the mode to another one than it was told",
			Fails: []string{
				"permission.answered-once", "permission.asked", "permission.deny-holds", "permission.resolved", "session.opened-as-asked", "text.once", "tool.known",
			},
			Only: map[string]string{ // Claude Code takes any mode at any time
				"permission.asked": "claude", "permission.deny-holds": "claude", "permission.resolved": "claude", "text.once": "claude", "tool.known": "claude",
			},
			mutation: mutation{set: func(string) (string, error) { return adapters.ModePlan, nil }},
		},
	}
}

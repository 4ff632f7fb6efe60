package drive

import (
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/fixtures"
)

// policyWords is what the model is told of a denial, where the wire has a place
// for it.
const policyWords = "The policy does not allow it."

// ruling is the answer of the scenario's policy to a question about a tool call;
// false: there is no policy, or it leaves the call to the user.
func (d *driver) ruling(tool string) (fixtures.Step, bool) {
	j := d.o.Scenario.Verdict(tool)
	if j == nil || j.Effect == fixtures.JudgeAsk {
		return fixtures.Step{}, false
	}
	a := fixtures.Step{Verb: fixtures.VerbAnswer, ID: tool, What: fixtures.AnswerAllow}
	if j.Effect == fixtures.JudgeDeny {
		a.What, a.Text = fixtures.AnswerDeny, policyWords
	}
	return a, true
}

// The hook by which a client of Claude Code sees every tool call, also those that
// it is never asked about.
const (
	claudePreToolUse = "PreToolUse"
	claudePolicy     = "policy"
)

type claudeRuling struct {
	Output struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason,omitempty"`
	} `json:"hookSpecificOutput"`
}

// judge answers the hook: with no, or with nothing, which leaves the call to the
// mode. Where the mode asks nobody, and denies, only the hook can say yes.
func (c *claude) judge(id, tool string) error {
	a, ok := c.d.ruling(strings.TrimPrefix(tool, "toolu_"))
	if !ok || a.Allows() && c.cfg.policy != claudeModes["dont-ask"] {
		return c.respond(id, struct{}{})
	}
	var r claudeRuling
	r.Output.Event, r.Output.Decision, r.Output.Reason = claudePreToolUse, a.What, a.Text
	return c.respond(id, r)
}

// about is the tool call that a question is about. One about a tool of an MCP
// server names the tool, or in older versions only the server.
func (q *codexAsk) about(s *fixtures.Scenario) string {
	if q.tool != "" || q.method != "mcpServer/elicitation/request" {
		return q.tool
	}
	var p struct {
		Server string `json:"serverName"`
		Meta   struct {
			Tool string `json:"tool_name"`
		} `json:"_meta"`
	}
	if json.Unmarshal(q.params, &p, asItCame) != nil {
		return ""
	}
	for _, r := range s.Model[""] {
		for _, part := range r.Parts {
			if part.Tool == nil || part.Tool.Tool != "mcp" {
				continue
			}
			var in struct {
				Server string `json:"server"`
				Tool   string `json:"tool"`
			}
			if json.Unmarshal(part.Tool.Input, &in) == nil && in.Server == p.Server && (p.Meta.Tool == "" || p.Meta.Tool == in.Tool) {
				return part.Tool.ID
			}
		}
	}
	return ""
}

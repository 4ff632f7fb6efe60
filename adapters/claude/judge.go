package claude

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/proc"
)

// judgeHook is the callback id of the hook that calls Options.Judge. The
// runtime calls it before every tool, in every mode.
const judgeHook = "judge"

// judgeSettings disables commands inside a skill or a command of the workspace.
// The runtime runs them when it reads the file, without calling a hook.
const (
	settingsFlag  = "--settings"
	judgeSettings = `{"disableSkillShellExecution":true}`
)

// These start the runtime without hooks, although its handshake accepts them.
const (
	bareFlag = "--bare"
	bareVar  = "CLAUDE_CODE_SIMPLE"
)

// checkJudgeOptions returns an error if the options would start the runtime
// without hooks.
func checkJudgeOptions(o adapters.Options) error {
	if o.Judge == nil {
		return nil
	}
	for _, a := range o.Args {
		switch {
		case a == bareFlag:
			return fmt.Errorf("args: %s disables hooks, which the judge needs", a)
		case a == settingsFlag, strings.HasPrefix(a, settingsFlag+"="):
			return fmt.Errorf("args: %s conflicts with the judge's own: use a settings file", settingsFlag)
		}
	}
	if proc.Getenv(o.Env, bareVar) != "" {
		return fmt.Errorf("env: %s disables hooks, which the judge needs", bareVar)
	}
	return nil
}

// preToolUse is the hook that may deny a tool.
const preToolUse = "PreToolUse"

// hookInput is the input of a PreToolUse hook.
type hookInput struct {
	Tool      lenient.Str    `json:"tool_name"`
	Input     jsontext.Value `json:"tool_input"`
	ToolUseID lenient.Str    `json:"tool_use_id"`
	Cwd       lenient.Str    `json:"cwd"`
	AgentID   lenient.Str    `json:"agent_id"`
}

// hookOutput is the hook's reply.
type hookOutput struct {
	Output struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason,omitempty"`
	} `json:"hookSpecificOutput"`
}

func hookReply(decision adapters.Effect, reason string) hookOutput {
	var v hookOutput
	v.Output.Event, v.Output.Decision, v.Output.Reason = preToolUse, string(decision), reason
	return v
}

// answerJudgeHook replies to the hook. A call that is not denied is decided by
// the mode, and is judged again if the runtime asks. The hook allows only in a
// mode that never asks. The hook never replies with an error, because the
// runtime would then run the tool.
func (p *protocol) answerJudgeHook(requestID string, input jsontext.Value) {
	var c hookInput
	if err := json.Unmarshal(input, &c, lenient.Options); err != nil || c.Tool == "" {
		p.respond(requestID, hookReply(adapters.EffectDeny, "what the tool is could not be read"))
		return
	}
	call := p.t.judgedCall(string(c.Tool), c.Input, string(c.AgentID))
	call.Dir = cmp.Or(string(c.Cwd), p.o.Dir)
	closing := hookReply(adapters.EffectDeny, "the session is closing")
	p.startCall(requestID, clientCall{cancelReply: closing}, func(ctx context.Context) func() {
		v := p.o.Judge.Decide(ctx, call)
		return func() {
			switch {
			case v.Effect == adapters.EffectDeny:
				p.t.denied[toolKey(call.SubagentID, string(c.ToolUseID))] = true
				p.respond(requestID, hookReply(v.Effect, v.Reason))
			case v.Effect == adapters.EffectAllow && p.t.mode == adapters.ModeDontAsk && !questionTools[call.Tool]:
				p.respond(requestID, hookReply(v.Effect, ""))
			default:
				p.respond(requestID, jsontext.Value("{}"))
			}
		}
	})
}

// judgePermission starts the Judge, if there is one.
func (p *protocol) judgePermission(a *question) {
	if p.o.Judge == nil {
		return
	}
	call := p.t.judgedCall(a.tool, a.input, "")
	call.SubagentID, call.Dir = a.sub, p.o.Dir
	a.Judge(p.h, p.o.Judge, call, nil, func(an adapters.Answer) { _ = p.answer(a, an) }) // it is the first answer
}

// judgedCall returns a tool call for the Judge. agent is the runtime's id of the
// calling sub-agent.
func (t *translator) judgedCall(tool string, input jsontext.Value, agent string) adapters.Call {
	c := adapters.Call{Tool: tool, Input: input.Clone(), SubagentID: agent}
	if len(c.Input) == 0 {
		c.Input = event.Raw("{}")
	}
	if a := t.agents.byTask[agent]; agent != "" && a != nil {
		c.SubagentID = a.id
	}
	return c
}

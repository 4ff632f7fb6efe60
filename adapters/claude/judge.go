package claude

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// judgeHook is the callback of the hook that asks Options.Judge. It is called
// before every tool, in every mode, also for what the runtime never asks about.
const judgeHook = "judge"

// judgeSettings close what no hook sees: commands that stand in a skill or in a
// command of the workspace, which the runtime runs when it reads them.
const (
	settingsFlag  = "--settings"
	judgeSettings = `{"disableSkillShellExecution":true}`
)

// What starts the runtime without hooks: it takes them all the same, and says so.
const (
	bareFlag = "--bare"
	bareVar  = "CLAUDE_CODE_SIMPLE"
)

// judgeable says why nothing would hold what the judge denies.
func judgeable(o adapters.Options) error {
	if o.Judge == nil {
		return nil
	}
	for _, a := range o.Args {
		switch {
		case a == bareFlag:
			return fmt.Errorf("args: %s starts the runtime without hooks, and so without a judge", a)
		case a == settingsFlag, strings.HasPrefix(a, settingsFlag+"="):
			return fmt.Errorf("args: %s stands where the judge's own must: put it into a settings file", settingsFlag)
		}
	}
	if getenv(o.Env, bareVar) != "" {
		return fmt.Errorf("env: %s starts the runtime without hooks, and so without a judge", bareVar)
	}
	return nil
}

// preToolUse is the hook that may forbid a tool.
const preToolUse = "PreToolUse"

// hookedCall is what the runtime tells a hook of a tool call.
type hookedCall struct {
	Tool      text           `json:"tool_name"`
	Input     jsontext.Value `json:"tool_input"`
	ToolUseID text           `json:"tool_use_id"`
	Cwd       text           `json:"cwd"`
	AgentID   text           `json:"agent_id"`
}

// hookVerdict is the hook's reply.
type hookVerdict struct {
	Output struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason,omitempty"`
	} `json:"hookSpecificOutput"`
}

func hookSays(decision adapters.Effect, reason string) hookVerdict {
	var v hookVerdict
	v.Output.Event, v.Output.Decision, v.Output.Reason = preToolUse, string(decision), reason
	return v
}

// judgeTool answers the hook. What is not denied goes on as the mode has it, and
// is judged again where the runtime asks; only where nobody will be asked must
// the hook itself allow. A reply that is an error would let the tool run.
func (p *protocol) judgeTool(requestID string, input jsontext.Value) {
	var c hookedCall
	if err := json.Unmarshal(input, &c, lenient); err != nil || c.Tool == "" {
		p.respond(requestID, hookSays(adapters.EffectDeny, "what the tool is could not be read"))
		return
	}
	s := &served{instead: hookSays(adapters.EffectDeny, "the session is closing")}
	p.serving[requestID] = s
	call := p.t.call(string(c.Tool), c.Input, string(c.AgentID))
	call.Dir = first(string(c.Cwd), p.o.Dir)
	s.cancel = p.h.Go(func(ctx context.Context) func() {
		v := p.o.Judge.Decide(ctx, call)
		return func() {
			delete(p.serving, requestID)
			switch {
			case v.Effect == adapters.EffectDeny:
				p.t.denied[within(call.SubagentID, string(c.ToolUseID))] = true
				p.respond(requestID, hookSays(v.Effect, v.Reason))
			case v.Effect == adapters.EffectAllow && p.t.mode == adapters.ModeDontAsk && !questions[call.Tool]:
				p.respond(requestID, hookSays(v.Effect, ""))
			default:
				p.respond(requestID, jsontext.Value("{}"))
			}
		}
	})
}

// judgePermission implements client. The question is told at once, since a
// runtime that ends meanwhile has asked it; but the user's answer waits for the
// judge's.
func (p *protocol) judgePermission(requestID string, a *ask) {
	if p.o.Judge == nil {
		return
	}
	call := p.t.call(a.tool, a.input, "")
	call.SubagentID, call.Dir = a.sub, p.o.Dir
	a.judged = true
	a.unjudge = p.h.Go(func(ctx context.Context) func() {
		v := p.o.Judge.Decide(ctx, call)
		return func() {
			a.judged = false
			if v.Effect != adapters.EffectAsk {
				d := event.DecisionAllow
				if v.Effect == adapters.EffectDeny {
					d = event.DecisionDeny
				}
				p.Answer(requestID, adapters.Answer{Decision: d, Message: v.Reason, By: event.ByPolicy}, func(error) {})
			}
			for _, answer := range a.waits {
				answer()
			}
		}
	})
}

// call is a tool call as a Judge sees it. agent is the runtime's id of the
// sub-agent whose call it is.
func (t *translator) call(tool string, input jsontext.Value, agent string) adapters.Call {
	c := adapters.Call{Tool: tool, Input: clone(input), SubagentID: agent}
	if len(c.Input) == 0 {
		c.Input = event.Raw("{}")
	}
	if a := t.agents.byTask[agent]; agent != "" && a != nil {
		c.SubagentID = a.id
	}
	return c
}

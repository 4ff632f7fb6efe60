package permission

import (
	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var asksWithoutTheTool = broken.Adapter{
	Name: "asks-without-the-tool", Sentence: "asks for permission without the tool and its input",
	Proves:   "permission.asked",
	Mutation: broken.Change(func(d *event.PermissionRequest) { d.ToolName, d.ToolInput = "", event.Raw("{}") }),
}

var asksNobody = broken.Adapter{
	Name: "drops-questions", Sentence: "drops the questions of the runtime",
	// No question is answered then, so the checks of answers fail too.
	Proves: "permission.asked",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		switch e.Data.(type) {
		case event.PermissionRequest, event.PermissionResolved, event.Interrupt, event.InterruptResolved:
		default:
			out(e)
		}
	}),
}

var asksAboutNothingKnown = broken.Adapter{
	Name: "asks-about-nothing-known", Sentence: "asks for permission with neither the call nor its input",
	Proves: "permission.asked",
	Mutation: broken.Change(func(d *event.PermissionRequest) {
		d.ToolUseID, d.ToolInput = "", event.Raw(`{"tool":"a command"}`)
	}),
}

var asksForPlansAsPermissions = broken.Adapter{
	Name: "asks-for-plans-as-permissions", Sentence: "asks for permission to approve a plan",
	Proves: "permission.asked",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		var call, asked string
		return func(e event.Event, out func(event.Event)) {
			switch d := e.Data.(type) {
			case event.ToolStart:
				call = d.ToolUseID
			case event.Interrupt:
				if d.ComponentName == planTool {
					asked = d.InterruptID
					e.Data = event.PermissionRequest{RequestID: d.InterruptID, ToolUseID: call, ToolName: planTool, ToolInput: d.Props}
				}
			case event.InterruptResolved:
				e.Data = decided(d, d.InterruptID == asked)
			}
			out(e)
		}
	}},
}

// planTool is the tool by which Claude Code proposes a plan.
const planTool = "ExitPlanMode"

// decided returns the event of a permission if d answers a plan, and else d.
func decided(d event.InterruptResolved, plan bool) event.Data {
	if !plan {
		return d
	}
	decision := event.DecisionCancel
	_ = json.Unmarshal(d.Value, &decision) // without an answer it is null
	return event.PermissionResolved{RequestID: d.InterruptID, ToolName: planTool, Allowed: decision == event.DecisionAllow, Decision: decision, By: d.By}
}

var hidesTheChoices = broken.Adapter{
	Name: "hides-the-choices", Sentence: "asks for permission without the choices that the runtime offers",
	Proves: "permission.asked", Mutation: broken.Omit("permission_request.options"),
}

var asksWithoutTheCall = broken.Adapter{
	Name: "asks-without-the-call", Sentence: "asks for permission and does not say for which call",
	Proves: "permission.asked", Mutation: broken.Omit("permission_request.tool_use_id"),
}

var asksOnNoSurface = broken.Adapter{
	Name: "asks-on-no-surface", Sentence: "asks a question and does not say where to show it",
	Proves: "permission.asked", Mutation: broken.Omit("interrupt.surface"),
}

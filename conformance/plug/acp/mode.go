package acp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance/plug"
)

// modeIDs are the ids that agents use for a mode. ACP does not define them; an agent
// lists the ones that it offers.
var modeIDs = map[string][]string{
	adapters.ModeAsk:         {"default", "workspace-write", "ask", "auto"},
	adapters.ModeAcceptEdits: {"acceptEdits", "accept-edits"},
	adapters.ModePlan:        {"plan"},
	adapters.ModeReadOnly:    {"read-only"},
	adapters.ModeDontAsk:     {"dontAsk", "dont-ask"},
	adapters.ModeNever:       {"bypassPermissions", "agent-full-access", "full-access", "yolo"},
}

// enterMode sets the permission mode of the session and returns the agent's id for
// it.
func (x *session) enterMode(ctx context.Context, mode string, modes *acpsdk.SessionModeState, options []acpsdk.SessionConfigOption) (string, error) {
	var offered []string
	current := ""
	if modes != nil {
		current = string(modes.CurrentModeId)
		for _, m := range modes.AvailableModes {
			offered = append(offered, string(m.Id))
		}
	}
	option := acpsdk.SessionConfigId("")
	for _, o := range options {
		if len(offered) == 0 && o.Select != nil && o.Select.Category != nil && *o.Select.Category == acpsdk.SessionConfigOptionCategoryMode {
			option, current = o.Select.Id, string(o.Select.CurrentValue)
			offered = selectValues(o.Select.Options)
		}
	}
	id := ""
	for _, m := range modeIDs[mode] {
		if id == "" && slices.Contains(offered, m) {
			id = m
		}
	}
	switch {
	case id == "":
		hint := ""
		if mode == adapters.ModeNever {
			hint = " (as root some offer it only if IS_SANDBOX=1 is set)"
		}
		return "", plug.Unsupported(fmt.Sprintf("the agent offers no mode that means %s%s, only %s", mode, hint, strings.Join(offered, ", ")))
	case id == current:
		return id, nil
	case option != "":
		_, err := call[acpsdk.SetSessionConfigOptionResponse](ctx, x, x.replyLimit(), acpsdk.AgentMethodSessionSetConfigOption, acpsdk.SetSessionConfigOptionRequest{
			ValueId: &acpsdk.SetSessionConfigOptionValueId{SessionId: x.id, ConfigId: option, Value: acpsdk.SessionConfigValueId(id)},
		})
		return id, x.openError("session/set_config_option", err)
	}
	_, err := call[acpsdk.SetSessionModeResponse](ctx, x, x.replyLimit(), acpsdk.AgentMethodSessionSetMode, acpsdk.SetSessionModeRequest{SessionId: x.id, ModeId: acpsdk.SessionModeId(id)})
	return id, x.openError("session/set_mode", err)
}

// selectValues returns the values that an option offers.
func selectValues(o acpsdk.SessionConfigSelectOptions) (out []string) {
	appendValues := func(all []acpsdk.SessionConfigSelectOption) {
		for _, v := range all {
			out = append(out, string(v.Value))
		}
	}
	if o.Ungrouped != nil {
		appendValues(*o.Ungrouped)
	}
	if o.Grouped != nil {
		for _, g := range *o.Grouped {
			appendValues(g.Options)
		}
	}
	return out
}

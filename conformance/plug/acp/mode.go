package acp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
)

// modeIDs are what agents call the modes of a session: ACP leaves the ids to
// them. Which of these an agent offers it says itself. That more than one stands
// for a mode is because no agent has all.
var modeIDs = map[string][]string{
	adapters.ModeAsk:         {"default", "workspace-write", "ask", "auto"},
	adapters.ModeAcceptEdits: {"acceptEdits", "accept-edits"},
	adapters.ModePlan:        {"plan"},
	adapters.ModeReadOnly:    {"read-only"},
	adapters.ModeDontAsk:     {"dontAsk", "dont-ask"},
	adapters.ModeNever:       {"bypassPermissions", "agent-full-access", "full-access", "yolo"},
}

// askMode is the mode that a session is to begin in.
func askMode(o conformance.Open) string {
	switch {
	case o.Mode != "":
		return o.Mode
	case o.Ask:
		return adapters.ModeAsk
	}
	return adapters.ModeNever
}

// enter puts a session into a mode. The agent's word for it is returned.
func (x *session) enter(ctx context.Context, mode string, modes *acpsdk.SessionModeState, options []acpsdk.SessionConfigOption) (string, error) {
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
			offered = values(o.Select.Options)
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
			hint = " (as root some offer it only where IS_SANDBOX=1 is set)"
		}
		return "", fmt.Errorf("the agent offers no mode that means %s%s, only %s: %w", mode, hint, strings.Join(offered, ", "), conformance.ErrDeclaredUnsupported)
	case id == current:
		return id, nil
	case option != "":
		_, err := call[acpsdk.SetSessionConfigOptionResponse](ctx, x, replyLimit, acpsdk.AgentMethodSessionSetConfigOption, acpsdk.SetSessionConfigOptionRequest{
			ValueId: &acpsdk.SetSessionConfigOptionValueId{SessionId: x.id, ConfigId: option, Value: acpsdk.SessionConfigValueId(id)},
		})
		return id, x.openError("session/set_config_option", err)
	}
	_, err := call[acpsdk.SetSessionModeResponse](ctx, x, replyLimit, acpsdk.AgentMethodSessionSetMode, acpsdk.SetSessionModeRequest{SessionId: x.id, ModeId: acpsdk.SessionModeId(id)})
	return id, x.openError("session/set_mode", err)
}

// values are what a setting offers.
func values(o acpsdk.SessionConfigSelectOptions) (out []string) {
	add := func(all []acpsdk.SessionConfigSelectOption) {
		for _, v := range all {
			out = append(out, string(v.Value))
		}
	}
	if o.Ungrouped != nil {
		add(*o.Ungrouped)
	}
	if o.Grouped != nil {
		for _, g := range *o.Grouped {
			add(g.Options)
		}
	}
	return out
}

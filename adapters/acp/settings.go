package acp

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// modeIDs are the modes of agents for each mode, the best first.
var modeIDs = map[string][]string{
	adapters.ModeAsk:         {"default", "ask", "read-only"},
	adapters.ModeAcceptEdits: {"acceptEdits", "accept-edits", "workspace-write"},
	adapters.ModePlan:        {"plan"},
	adapters.ModeReadOnly:    {"read-only"},
	adapters.ModeDontAsk:     {"dontAsk", "dont-ask"},
	adapters.ModeNever:       {"bypassPermissions", "agent-full-access", "full-access", "yolo"},
}

// modeID returns the agent's mode for a mode: the first that it offers, or the name itself.
func (c *client) modeID(mode string) string {
	for _, id := range modeIDs[mode] {
		if slices.Contains(c.modes, id) {
			return id
		}
	}
	return mode
}

// modeName returns the mode that an agent's mode is, or the agent's own name for it.
func modeName(id string) string {
	for _, mode := range []string{adapters.ModeAsk, adapters.ModeAcceptEdits, adapters.ModePlan, adapters.ModeDontAsk, adapters.ModeNever} {
		if id != "" && slices.Contains(modeIDs[mode], id) {
			return mode
		}
	}
	return id
}

// SetMode implements session.Setter.
func (c *client) SetMode(mode string, reply func(error)) {
	id := c.modeID(mode)
	c.send("session/set_mode", modeParams{c.t.session, id}, true, func(v jsontext.Value, err error) {
		if err == nil {
			c.t.modeSet(id)
		}
		reply(err)
	})
}

// SetModel implements session.Setter.
func (c *client) SetModel(model string, reply func(error)) {
	c.send("session/set_config_option", configParams{c.t.session, "model", model}, true, func(v jsontext.Value, err error) {
		if err == nil {
			c.t.configChanged(decode[openResult](v).ConfigOptions)
			c.t.modelSet(model)
		}
		reply(err)
	})
}

// modeSet emits the mode in force if it has changed.
func (t *translator) modeSet(id string) {
	if id == "" || id == t.mode {
		return
	}
	t.mode = id
	if t.ready {
		t.l.Emit(event.ModeChanged{Value: modeName(id)})
	}
}

func (t *translator) modelSet(model string) {
	if model == "" || model == t.model {
		return
	}
	t.model = model
	if t.ready {
		t.l.Emit(event.ModelChanged{Value: model})
	}
}

// configChanged reads the settings in force, of which an agent sends all.
func (t *translator) configChanged(options jsontext.Value) {
	for _, o := range decode[[]configOption](options) {
		switch {
		case o.ID == "mode" || o.Category == "mode":
			t.modeSet(string(decode[str](o.Current)))
		case o.ID == "model" || o.Category == "model":
			t.modelSet(string(decode[str](o.Current)))
			t.modelsOffered(o.Options)
		}
	}
}

// effortOption returns the agent's option for how much the model reasons, or "".
func effortOption(options jsontext.Value) string {
	for _, o := range decode[[]configOption](options) {
		if o.Category == "thought_level" {
			return string(o.ID)
		}
	}
	return ""
}

// sessionOpened reads the result of a request that has opened the session.
func (t *translator) sessionOpened(id string, r openResult) {
	t.session, t.opened = id, true
	t.mode, t.model = string(r.Modes.Current), string(r.Models.Current)
	t.configChanged(r.ConfigOptions)
}

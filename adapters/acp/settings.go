package acp

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
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

// plansByOption reports whether a mode is the agent's option for planning, and no mode of the
// agent.
func (c *client) plansByOption(mode string) bool {
	return mode == adapters.ModePlan && c.plans != "" && !slices.Contains(c.modes, "plan")
}

// optionOf returns the agent's option of a category, or "".
func optionOf(options jsontext.Value, category string) string {
	for _, o := range lenient.Decode[[]configOption](options) {
		if string(o.Category) == category {
			return string(o.ID)
		}
	}
	return ""
}

// modeID returns the agent's mode for a mode: the first that it offers, or the name itself.
func (c *client) modeID(mode string) (string, error) {
	if c.info.isOpenCode() {
		return c.openCodeMode(mode)
	}
	for _, id := range modeIDs[mode] {
		if slices.Contains(c.modes, id) {
			return id, nil
		}
	}
	return mode, nil
}

// modeName returns the mode that an agent's mode is, or the agent's own name for it.
// read-only is the mode of codex-acp that asks.
func modeName(id string) string {
	for _, mode := range []string{adapters.ModeAsk, adapters.ModeAcceptEdits, adapters.ModePlan, adapters.ModeDontAsk, adapters.ModeNever} {
		if id != "" && slices.Contains(modeIDs[mode], id) {
			return mode
		}
	}
	return id
}

// SetMode implements session.Setter. An agent that plans by an option keeps its mode
// meanwhile.
func (c *client) SetMode(mode string, reply func(error)) {
	value := ""
	switch {
	case c.plansByOption(mode):
		value = "plan"
	case c.t.planning:
		value = "default"
	default:
		c.setMode(mode, reply)
		return
	}
	c.send("session/set_config_option", configParams{c.t.session, c.plans, value}, true, func(v jsontext.Value, err error) {
		if err != nil || value == "plan" {
			if err == nil {
				c.t.planSet(true)
			}
			reply(err)
			return
		}
		c.t.planning = false
		c.setMode(mode, reply)
	})
}

func (c *client) setMode(mode string, reply func(error)) {
	id, err := c.modeID(mode)
	if err != nil {
		reply(err)
		return
	}
	c.send("session/set_mode", modeParams{c.t.session, id}, true, func(v jsontext.Value, err error) {
		if err == nil {
			c.t.modeSet(id)
			c.t.emitMode()
		}
		reply(err)
	})
}

// SetModel implements session.Setter.
func (c *client) SetModel(model string, reply func(error)) {
	c.send("session/set_config_option", configParams{c.t.session, "model", model}, true, func(v jsontext.Value, err error) {
		if err == nil {
			c.t.configChanged(lenient.Decode[openResult](v).ConfigOptions)
			c.t.modelSet(model)
		}
		reply(err)
	})
}

// modeSet emits the mode in force if it has changed.
func (t *translator) modeSet(id string) {
	if id == "" {
		return
	}
	t.mode = id
	t.emitMode()
}

// planSet records whether the option for planning is on, and emits the mode if it has changed.
func (t *translator) planSet(on bool) {
	t.planning = on
	t.emitMode()
}

// modeInForce is the mode that events name.
func (t *translator) modeInForce() string {
	if t.planning {
		return adapters.ModePlan
	}
	if t.mode == buildAgent && t.isOpenCode() {
		return t.startMode()
	}
	return modeName(t.mode)
}

// emitMode emits the mode in force if it is not the last that events named.
func (t *translator) emitMode() {
	if mode := t.modeInForce(); t.ready && mode != t.shownMode {
		t.shownMode = mode
		t.l.Emit(event.ModeChanged{Value: mode})
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
	for _, o := range lenient.Decode[[]configOption](options) {
		switch {
		case o.ID == "mode" || o.Category == "mode":
			t.mode = cmp.Or(string(lenient.Decode[lenient.Str](o.Current)), t.mode)
		case o.Category == "collaboration_mode":
			t.planning = lenient.Decode[lenient.Str](o.Current) == "plan"
		case o.ID == "model" || o.Category == "model":
			t.modelSet(string(lenient.Decode[lenient.Str](o.Current)))
			t.modelsOffered(o.Options)
		}
	}
	t.emitMode()
}

// sessionOpened reads the result of a request that has opened the session.
func (t *translator) sessionOpened(id string, r openResult) {
	t.session, t.opened = id, true
	t.mode, t.model = string(r.Modes.Current), string(r.Models.Current)
	t.configChanged(r.ConfigOptions)
}

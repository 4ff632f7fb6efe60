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
	adapters.ModeAsk:         {"default", "ask", "read-only", sessionModes + "agent"},
	adapters.ModeAcceptEdits: {"acceptEdits", "accept-edits", "auto-edit", "workspace-write"},
	adapters.ModePlan:        {"plan", sessionModes + "plan"},
	adapters.ModeReadOnly:    {"read-only"},
	adapters.ModeDontAsk:     {"dontAsk", "dont-ask"},
	adapters.ModeNever:       {"bypassPermissions", "agent-full-access", "full-access", "yolo"},
}

// sessionModes begins the ids that the protocol has for modes.
const sessionModes = "https://agentclientprotocol.com/protocol/session-modes#"

// modeOption is a configuration option that puts an agent into a mode which its list of modes lacks.
type modeOption struct {
	category string
	mode     string // that the agent is in while the option is on
	on, off  string
	in       string // the agent's mode in which the option counts; "": any
	id       string // of this agent; "": it has no such option
}

// modeOptions are those that agents have: codex-acp plans by one, and Copilot asks about nothing.
var modeOptions = []modeOption{
	{category: "collaboration_mode", mode: adapters.ModePlan, on: "plan", off: "default"},
	{category: "permissions", mode: adapters.ModeNever, on: "on", off: "off", in: sessionModes + "agent"},
}

// modeOptionOf returns the first of them that an agent offers.
func modeOptionOf(options jsontext.Value) modeOption {
	for _, o := range modeOptions {
		if o.id = optionOf(options, o.category); o.id != "" {
			return o
		}
	}
	return modeOption{}
}

// hasByOption reports whether a mode is an option of the agent, and no mode of the agent.
func (c *client) hasByOption(mode string) bool {
	return c.option.id != "" && mode == c.option.mode &&
		!slices.ContainsFunc(modeIDs[mode], func(id string) bool { return slices.Contains(c.modes, id) })
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
	if c.t.agent.modeAtStart {
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

// SetMode implements session.Setter. An option for a mode leaves the agent in its mode, unless it
// counts in another one alone.
func (c *client) SetMode(mode string, reply func(error)) {
	on := c.hasByOption(mode)
	if id, err := c.modeID(mode); !on && (!c.t.switched || err == nil && !slices.Contains(c.modes, id)) { // a mode that is refused changes nothing
		c.setMode(mode, reply)
		return
	}
	value := c.option.off
	if on {
		value = c.option.on
	}
	c.send("session/set_config_option", configParams{c.t.session, c.option.id, value}, true, func(v jsontext.Value, err error) {
		if err != nil {
			reply(err)
			return
		}
		c.t.switched = on
		switch {
		case !on:
			c.setMode(mode, reply)
		case c.option.in != "" && c.option.in != c.t.mode:
			c.setModeID(c.option.in, reply)
		default:
			c.t.emitMode()
			reply(nil)
		}
	})
}

func (c *client) setMode(mode string, reply func(error)) {
	id, err := c.modeID(mode)
	if err != nil {
		reply(err)
		return
	}
	c.setModeID(id, reply)
}

func (c *client) setModeID(id string, reply func(error)) {
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

// modeInForce is the mode that events name.
func (t *translator) modeInForce() string {
	if t.switched && (t.option.in == "" || t.option.in == t.mode) {
		return t.option.mode
	}
	if t.mode == buildAgent && t.agent.modeAtStart {
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
		case t.option.id != "" && string(o.ID) == t.option.id:
			t.switched = string(lenient.Decode[lenient.Str](o.Current)) == t.option.on
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
	t.mode, t.model, t.option = string(r.Modes.Current), string(r.Models.Current), modeOptionOf(r.ConfigOptions)
	t.configChanged(r.ConfigOptions)
}

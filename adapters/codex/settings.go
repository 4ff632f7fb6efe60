package codex

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// mode is a permission mode as the runtime's settings. The runtime has two
// names for each sandbox.
type mode struct{ name, approval, sandbox, policy string }

var modes = map[string]mode{
	"ask":          {"ask", "untrusted", "workspace-write", "workspaceWrite"},
	"accept-edits": {"accept-edits", "on-request", "workspace-write", "workspaceWrite"},
	"plan":         {"plan", "on-request", "workspace-write", "workspaceWrite"},
	"read-only":    {"read-only", "on-request", "read-only", "readOnly"},
	"dont-ask":     {"dont-ask", "never", "read-only", "readOnly"},
	"never":        {"never", "never", "danger-full-access", "dangerFullAccess"},
}

// approvalPolicies are the policies of versions without thread/settings/update.
var approvalPolicies = []string{"untrusted", "on-failure", "on-request", "never"}

// modeName returns the mode of the runtime's settings.
func modeName(policy, sandbox, collaboration string) string {
	switch {
	case collaboration == "plan":
		return adapters.ModePlan
	case policy == "untrusted":
		return adapters.ModeAsk
	case policy == "on-request" && sandbox == "readOnly":
		return adapters.ModeReadOnly
	case policy == "on-request":
		return adapters.ModeAcceptEdits
	case policy == "never" && sandbox == "readOnly":
		return adapters.ModeDontAsk
	}
	return policy // never; other policies keep their names
}

// settings are the settings that a turn, or thread/settings/update, changes.
type settings struct {
	Model          string         `json:"model,omitempty"`
	ApprovalPolicy string         `json:"approvalPolicy,omitempty"`
	SandboxPolicy  *sandboxPolicy `json:"sandboxPolicy,omitempty"`
	Collaboration  *collaboration `json:"collaborationMode,omitempty"`
}

type sandboxPolicy struct {
	Type string `json:"type"`
}

type collaboration struct {
	Mode     string `json:"mode"`
	Settings struct {
		Model        string  `json:"model"`
		Effort       *string `json:"reasoning_effort"`
		Instructions *string `json:"developer_instructions"`
	} `json:"settings"`
}

// threadSettings is the content of thread/settings/updated.
type threadSettings struct {
	Model          lenient.Str    `json:"model"`
	ApprovalPolicy jsontext.Value `json:"approvalPolicy"`
	SandboxPolicy  struct {
		Type lenient.Str `json:"type"`
	} `json:"sandboxPolicy"`
	Collaboration struct {
		Mode lenient.Str `json:"mode"`
	} `json:"collaborationMode"`
}

// SetModel implements session.Setter.
func (c *client) SetModel(model string, reply func(error)) {
	s := c.nextSettings
	s.Model = model
	c.updateSettings("set model", s, reply)
}

// SetMode implements session.Setter. A name that is not one of our modes is
// sent as an approval policy.
func (c *client) SetMode(name string, reply func(error)) {
	s := c.nextSettings
	m, ours := modes[name]
	switch {
	case !ours && c.o.Judge != nil:
		reply(fmt.Errorf("set mode: %w: policy %q would bypass the judge", adapters.ErrRefused, name))
		return
	case ours:
		s.SandboxPolicy = &sandboxPolicy{m.policy}
	case !c.hasSettingsUpdate() && !slices.Contains(approvalPolicies, name):
		reply(fmt.Errorf("set mode: %w: unknown mode %q", adapters.ErrRefused, name))
		return
	default:
		m = mode{name: name, approval: name}
	}
	s.ApprovalPolicy = m.approval
	if c.o.Judge != nil {
		s.ApprovalPolicy = judgedPolicy
	}
	was := c.t.mode == adapters.ModePlan || c.wantedMode == adapters.ModePlan
	if is := m.name == adapters.ModePlan; is != was {
		s.Collaboration = c.collaboration(is)
	}
	c.updateSettings("set mode", s, func(err error) {
		if err == nil {
			c.wantedMode = m.name
		}
		reply(err)
	})
}

// updateSettings changes settings at once. Older versions receive them with the
// next turn.
func (c *client) updateSettings(op string, s settings, reply func(error)) {
	if !c.hasSettingsUpdate() {
		c.nextSettings = s
		reply(nil)
		return
	}
	c.sendRequest("thread/settings/update", settingsParams{c.t.main.id, s}, func(_ *result, err error) {
		if rpc, ok := errors.AsType[*rpcError](err); ok {
			err = fmt.Errorf("%s: %w: %s", op, adapters.ErrRefused, string(rpc.Message))
		}
		reply(err)
	})
}

// hasSettingsUpdate reports whether the runtime has thread/settings/update.
func (c *client) hasSettingsUpdate() bool { return minorVersion(c.t.version) > 120 }

func (c *client) collaboration(plan bool) *collaboration {
	m := &collaboration{Mode: "default"}
	if plan {
		m.Mode = "plan"
	}
	if m.Settings.Model = c.t.model; c.nextSettings.Model != "" {
		m.Settings.Model = c.nextSettings.Model
	}
	if c.o.Effort != "" { // a mode without it would reset it
		m.Settings.Effort = &c.o.Effort
	}
	return m
}

// turnSettings returns the settings for a turn that starts now. The caller
// calls applied when the runtime has accepted them.
func (c *client) turnSettings() (s settings, taken func()) {
	s, c.nextSettings = c.nextSettings, settings{}
	if c.wantedMode == adapters.ModePlan && s.Collaboration == nil {
		s.Collaboration = c.collaboration(true)
	}
	model, name := s.Model, ""
	if s.ApprovalPolicy != "" {
		name = c.wantedMode
	}
	return s, func() {
		c.t.modelChanged(model)
		c.t.modeChanged(name)
	}
}

// handleSettings handles thread/settings/updated.
func (t *translator) handleSettings() {
	p := &t.m.Params
	d := p.Settings.V
	if d == nil || t.main == nil || p.ThreadID.val() != t.main.id {
		return
	}
	t.modelChanged(string(d.Model))
	mode := modeName(lenient.Text(d.ApprovalPolicy), string(d.SandboxPolicy.Type), string(d.Collaboration.Mode))
	if t.live != nil && t.live.o.Judge != nil && lenient.Text(d.ApprovalPolicy) == judgedPolicy {
		mode = t.live.wantedMode // the policy is always the judge's
	}
	t.modeChanged(mode)
}

func (t *translator) modelChanged(m string) {
	if m != "" && m != t.model {
		t.model = m
		t.l.Session(event.ModelChanged{Value: m})
	}
}

func (t *translator) modeChanged(m string) {
	if m != "" && m != t.mode {
		t.mode = m
		t.l.Session(event.ModeChanged{Value: m})
	}
}

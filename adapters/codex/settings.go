package codex

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// mode is how a permission mode is told to the runtime. It has two words for
// each sandbox.
type mode struct{ name, approval, sandbox, policy string }

var modes = map[string]mode{
	"ask":          {"ask", "untrusted", "workspace-write", "workspaceWrite"},
	"accept-edits": {"accept-edits", "on-request", "workspace-write", "workspaceWrite"},
	"plan":         {"plan", "on-request", "workspace-write", "workspaceWrite"},
	"read-only":    {"read-only", "on-request", "read-only", "readOnly"},
	"dont-ask":     {"dont-ask", "never", "read-only", "readOnly"},
	"never":        {"never", "never", "danger-full-access", "dangerFullAccess"},
}

// policies are those that the versions without a request for settings know.
var policies = []string{"untrusted", "on-failure", "on-request", "never"}

// modeName is the mode of settings that the runtime tells.
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
	return policy // never; others keep their names
}

// settings are what a turn, or thread/settings/update, changes.
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

// told is what thread/settings/updated tells.
type told struct {
	Model          str            `json:"model"`
	ApprovalPolicy jsontext.Value `json:"approvalPolicy"`
	SandboxPolicy  struct {
		Type str `json:"type"`
	} `json:"sandboxPolicy"`
	Collaboration struct {
		Mode str `json:"mode"`
	} `json:"collaborationMode"`
}

// SetModel implements session.Setter.
func (c *client) SetModel(model string, reply func(error)) {
	s := c.next
	s.Model = model
	c.set("set model", s, reply)
}

// SetMode implements session.Setter. A name that is none of ours is taken for a
// policy of the runtime's.
func (c *client) SetMode(name string, reply func(error)) {
	s := c.next
	m, ours := modes[name]
	switch {
	case !ours && c.o.Judge != nil:
		reply(fmt.Errorf("set mode: %w: a policy of the runtime's own would hide from the judge what it does not ask: %q", adapters.ErrRefused, name))
		return
	case ours:
		s.SandboxPolicy = &sandboxPolicy{m.policy}
	case !c.settles() && !slices.Contains(policies, name):
		reply(fmt.Errorf("set mode: %w: unknown mode %q", adapters.ErrRefused, name))
		return
	default:
		m = mode{name: name, approval: name}
	}
	s.ApprovalPolicy = m.approval
	if c.o.Judge != nil {
		s.ApprovalPolicy = judged
	}
	was := c.t.mode == adapters.ModePlan || c.wanted == adapters.ModePlan
	if is := m.name == adapters.ModePlan; is != was {
		s.Collaboration = c.collaboration(is)
	}
	c.set("set mode", s, func(err error) {
		if err == nil {
			c.wanted = m.name
		}
		reply(err)
	})
}

// set changes settings at once; older versions take them with the next turn.
func (c *client) set(op string, s settings, reply func(error)) {
	if !c.settles() {
		c.next = s
		reply(nil)
		return
	}
	c.ask("thread/settings/update", settingsParams{c.t.main.id, s}, func(_ *result, err error) {
		if rpc, ok := errors.AsType[*rpcError](err); ok {
			err = fmt.Errorf("%s: %w: %s", op, adapters.ErrRefused, string(rpc.Message))
		}
		reply(err)
	})
}

// settles reports whether the runtime has a request that changes settings.
func (c *client) settles() bool {
	v := strings.Split(c.t.version, ".")
	if len(v) < 2 {
		return true
	}
	major, err1 := strconv.Atoi(v[0])
	minor, err2 := strconv.Atoi(v[1])
	return err1 != nil || err2 != nil || major > 0 || minor > 120
}

func (c *client) collaboration(plan bool) *collaboration {
	m := &collaboration{Mode: "default"}
	if plan {
		m.Mode = "plan"
	}
	if m.Settings.Model = c.t.model; c.next.Model != "" {
		m.Settings.Model = c.next.Model
	}
	return m
}

// turnSettings are those that a turn which begins now brings. They are in force
// when the runtime has taken it.
func (c *client) turnSettings() (s settings, taken func()) {
	s, c.next = c.next, settings{}
	if c.wanted == adapters.ModePlan && s.Collaboration == nil {
		s.Collaboration = c.collaboration(true)
	}
	model, name := s.Model, ""
	if s.ApprovalPolicy != "" {
		name = c.wanted
	}
	return s, func() {
		c.t.modelChanged(model)
		c.t.modeChanged(name)
	}
}

// settled handles thread/settings/updated.
func (t *translator) settled() {
	p := &t.m.Params
	d := p.Settings.v
	if d == nil || t.main == nil || p.ThreadID.val() != t.main.id {
		return
	}
	t.modelChanged(string(d.Model))
	mode := modeName(scalarOf(d.ApprovalPolicy), string(d.SandboxPolicy.Type), string(d.Collaboration.Mode))
	if t.live != nil && t.live.o.Judge != nil && scalarOf(d.ApprovalPolicy) == judged {
		mode = t.live.wanted // whatever it is, the policy is the judge's
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

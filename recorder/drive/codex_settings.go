package drive

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// granular is the policy that asks about all that it can name.
var granular = jsontext.Value(`{"granular":{"sandbox_approval":true,"rules":true,"skill_approval":true,"request_permissions":true,"mcp_elicitations":true}}`)

// codexSettings are what a turn, or thread/settings/update, changes.
type codexSettings struct {
	Model          string                  `json:"model,omitempty"`
	ApprovalPolicy string                  `json:"approvalPolicy,omitempty"`
	SandboxPolicy  *codexSandbox           `json:"sandboxPolicy,omitempty"`
	Collaboration  *codexCollaborationMode `json:"collaborationMode,omitempty"`
}

type codexSandbox struct {
	Type string `json:"type"`
}

type codexCollaborationMode struct {
	Mode     string `json:"mode"`
	Settings struct {
		Model        string  `json:"model"`
		Effort       *string `json:"reasoning_effort"`
		Instructions *string `json:"developer_instructions"`
	} `json:"settings"`
}

// settings are those of a turn that begins now.
func (c *codex) settings() codexSettings {
	s := c.next
	c.next = codexSettings{}
	if c.cfg.plans && s.Collaboration == nil {
		s.Collaboration = c.collaboration("plan")
	}
	return s
}

func (c *codex) collaboration(mode string) *codexCollaborationMode {
	m := &codexCollaborationMode{Mode: mode}
	m.Settings.Model = c.cfg.model
	return m
}

// codexSandboxes are the sandbox modes as settings have them.
var codexSandboxes = map[string]string{
	"danger-full-access": "dangerFullAccess", "workspace-write": "workspaceWrite", "read-only": "readOnly",
}

// set changes a thread's settings at once where the server has a request for
// it; the older ones take it with the next turn.
func (c *codex) set(what, value string, refused bool) error {
	s := c.next
	if what == "model" {
		s.Model, c.cfg.model = value, value
	} else {
		m, known := codexModes[value]
		if !known {
			m = [2]string{value, ""}
		}
		s.ApprovalPolicy = m[0]
		if known {
			s.SandboxPolicy = &codexSandbox{codexSandboxes[m[1]]}
		}
		if was := c.cfg.plans; known && (value == "plan") != was {
			c.cfg.plans = value == "plan"
			s.Collaboration = c.collaboration(map[bool]string{true: "plan", false: "default"}[c.cfg.plans])
		}
	}
	if !c.cfg.codex.settles {
		if refused {
			return errors.New("this version has no request that could be refused")
		}
		c.next = s
		return nil
	}
	const told = "thread/settings/updated"
	delete(c.heard, told)
	_, err := c.call("thread/settings/update", struct {
		ThreadID string `json:"threadId"`
		codexSettings
	}{c.thread, s})
	if err := mustRefuse(err, refused); err != nil || refused {
		return err
	}
	return c.d.until(told, func() bool { return c.heard[told] })
}

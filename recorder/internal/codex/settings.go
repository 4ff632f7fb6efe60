package codex

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// granular is the policy that asks about everything that it can name.
var granular = jsontext.Value(`{"granular":{"sandbox_approval":true,"rules":true,"skill_approval":true,"request_permissions":true,"mcp_elicitations":true}}`)

// settings are what a turn, or thread/settings/update, changes.
type settings struct {
	Model          string             `json:"model,omitempty"`
	ApprovalPolicy string             `json:"approvalPolicy,omitempty"`
	SandboxPolicy  *sandboxPolicy     `json:"sandboxPolicy,omitempty"`
	Collaboration  *collaborationMode `json:"collaborationMode,omitempty"`
}

type sandboxPolicy struct {
	Type string `json:"type"`
}

type collaborationMode struct {
	Mode     string `json:"mode"`
	Settings struct {
		Model        string  `json:"model"`
		Effort       *string `json:"reasoning_effort"`
		Instructions *string `json:"developer_instructions"`
	} `json:"settings"`
}

// turnSettings returns the settings of the turn that begins now.
func (c *client) turnSettings() settings {
	s := c.next
	c.next = settings{}
	if c.cfg.plans && s.Collaboration == nil {
		s.Collaboration = c.collaboration("plan")
	}
	return s
}

func (c *client) collaboration(mode string) *collaborationMode {
	m := &collaborationMode{Mode: mode}
	m.Settings.Model = c.cfg.model
	return m
}

// sandboxTypes are the names of the sandbox modes in settings.
var sandboxTypes = map[string]string{
	"danger-full-access": "dangerFullAccess", "workspace-write": "workspaceWrite", "read-only": "readOnly",
}

// set changes a setting. Older versions have no request for it and get the change with the
// next turn.
func (c *client) set(_ context.Context, step fixtures.Step) error {
	s, value := c.next, step.ValueFor(c.d.Runtime.Wire.Name, c.d.Version)
	if step.What == "model" {
		s.Model, c.cfg.model = value, value
	} else {
		m, known := modes[value]
		if !known {
			m = [2]string{value, ""}
		}
		s.ApprovalPolicy = m[0]
		if known {
			s.SandboxPolicy = &sandboxPolicy{sandboxTypes[m[1]]}
		}
		if was := c.cfg.plans; known && (value == "plan") != was {
			c.cfg.plans = value == "plan"
			s.Collaboration = c.collaboration(map[bool]string{true: "plan", false: "default"}[c.cfg.plans])
		}
	}
	if !c.cfg.updatesSettings {
		if step.Refused {
			return errors.New("this version has no request that it could refuse")
		}
		c.next = s
		return nil
	}
	const updated = "thread/settings/updated"
	delete(c.seen, updated)
	_, err := c.requestRPC("thread/settings/update", struct {
		ThreadID string `json:"threadId"`
		settings
	}{c.thread, s})
	if err := drive.CheckRefusal(err, step.Refused); err != nil || step.Refused {
		return err
	}
	return c.waitSeen(updated)
}

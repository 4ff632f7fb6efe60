package claude

import (
	"fmt"

	"github.com/turnspec/turnspec/adapters"
)

type setModel struct {
	Subtype string `json:"subtype"`
	Model   string `json:"model"`
}

type setMode struct {
	Subtype string `json:"subtype"`
	Mode    string `json:"mode"`
}

// SetModel implements session.Setter. The reply names the model that a short
// name stands for.
func (p *protocol) SetModel(model string, told func(error)) {
	p.ask(setModel{"set_model", model}, func(r *reply, err error) {
		if err = refusal("set model", r, err); err == nil {
			p.t.modelChanged(first(string(r.Response.Model), model))
		}
		told(err)
	})
}

// SetMode implements session.Setter. A status line tells that it is in force.
func (p *protocol) SetMode(mode string, told func(error)) {
	p.ask(setMode{"set_permission_mode", modeFlag(mode)}, func(r *reply, err error) {
		told(refusal("set mode", r, err))
	})
}

func refusal(op string, r *reply, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", op, err)
	case r.Subtype != "success":
		return fmt.Errorf("%s: %w: %s", op, adapters.ErrRefused, string(r.Error))
	}
	return nil
}

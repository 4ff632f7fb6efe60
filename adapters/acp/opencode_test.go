package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/acp"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
)

// startEnv returns the permissions that an agent is started with.
func startEnv(t *testing.T, o adapters.Options) map[string]string {
	t.Helper()
	var env []string
	o.Launch = proc.LauncherFunc(func(_ context.Context, c proc.Command) (proc.Process, error) {
		env = c.Env
		return nil, errors.New("this agent does not start")
	})
	if _, err := acp.New().Open(t.Context(), o); err == nil {
		t.Fatal("the session opened")
	}
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "OPENCODE_PERMISSION="); ok {
			out := map[string]string{}
			if err := json.Unmarshal([]byte(v), &out); err != nil {
				t.Fatal(err)
			}
			return out
		}
	}
	return nil
}

// opencode takes the last permission that fits, and puts one that its settings do not have
// behind those that they have: with "*", a mode that asks would allow what the settings ask for.
func TestModeOfOpenCodeDoesNotHideItsSettings(t *testing.T) {
	g := NewWithT(t)
	for _, mode := range []string{adapters.ModeAsk, adapters.ModeAcceptEdits} {
		p := startEnv(t, adapters.Options{Opening: op.Opening{Mode: mode}, Env: []string{}})
		g.Expect(p).To(HaveKeyWithValue("bash", "ask"))
		g.Expect(p).NotTo(HaveKey("*"))
	}
	never := startEnv(t, adapters.Options{Opening: op.Opening{Mode: adapters.ModeNever}, Env: []string{}})
	g.Expect(never).To(And(HaveKeyWithValue("*", "allow"), HaveKeyWithValue("bash", "allow")))
	judged := startEnv(t, adapters.Options{Env: []string{}, Judge: func(context.Context, adapters.Call) adapters.Verdict { return adapters.Verdict{} }})
	for _, name := range []string{"*", "bash", "edit", "read", "external_directory"} {
		g.Expect(judged).To(HaveKeyWithValue(name, "ask"))
	}
}

func TestEnvironmentOfOtherSessionsStays(t *testing.T) {
	g := NewWithT(t)
	g.Expect(startEnv(t, adapters.Options{Env: []string{}})).To(BeNil(), "no mode was chosen")
	own := []string{`OPENCODE_PERMISSION={"bash":"deny"}`}
	g.Expect(startEnv(t, adapters.Options{Opening: op.Opening{Mode: adapters.ModeAsk}, Env: own})).To(Equal(map[string]string{"bash": "deny"}))
}

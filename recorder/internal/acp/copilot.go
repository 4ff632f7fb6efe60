package acp

import (
	"fmt"

	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// sessionModes begins the ids that the protocol has for modes of sessions.
const sessionModes = "https://agentclientprotocol.com/protocol/session-modes#"

// startCopilot starts GitHub Copilot CLI without its service, with chat completions.
func startCopilot(needs []string, modelURL string) (drive.Connection, error) {
	for _, n := range needs {
		switch n {
		case "permission", "few-retries", "plan", "search-tools":
		case "no-model":
			modelURL = drive.Nowhere
		default:
			return drive.Connection{}, unmet("copilot", n)
		}
	}
	return drive.Connection{
		Args: []string{"--acp"},
		Env: []string{
			"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL=" + modelURL + "/v1", "COPILOT_MODEL=scripted",
		},
	}, nil
}

// unmet is the error of an agent that has no setting for a need.
func unmet(agent, need string) error {
	return fmt.Errorf("needs: %s has no setting for %q: write `not on acp: REASON` in the scenario", agent, need)
}

package acp

import "github.com/turnspec/turnspec/recorder/internal/drive"

// qwenSettings leave out what Qwen Code asks the model beside the user's turns: what to remember,
// and what the user might say next.
const qwenSettings = `{"memory":{"enableManagedAutoMemory":false,"enableManagedAutoDream":false},"ui":{"enableFollowupSuggestions":false},` +
	`"general":{"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false}}` + "\n"

// startQwen starts Qwen Code with chat completions.
func startQwen(needs []string, modelURL string) (drive.Connection, error) {
	for _, n := range needs {
		switch n {
		case "permission", "few-retries", "plan", "search-tools", "question", "task-list":
		case "no-model":
			modelURL = drive.Nowhere
		default:
			return drive.Connection{}, unmet("qwen-code", n)
		}
	}
	return drive.Connection{
		Args: []string{"--acp"},
		Env:  []string{"OPENAI_API_KEY=dummy", "OPENAI_BASE_URL=" + modelURL + "/v1", "OPENAI_MODEL=scripted"},
		Home: map[string]string{".qwen/settings.json": qwenSettings},
	}, nil
}

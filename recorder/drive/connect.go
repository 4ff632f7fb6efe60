package drive

import "fmt"

// Connection is what makes a runtime talk to the scripted model instead of its
// vendor: further arguments, and variables beside those of a clean environment.
type Connection struct {
	Args  []string
	Env   []string
	Model string // the slug to ask for; "" is the runtime's default
}

// Connect says how a runtime that offers what a scenario needs is pointed at a
// model. Any client can start it so.
func Connect(runtime, version, mode string, needs []string, modelURL string) (Connection, error) {
	cfg, err := configFor(runtime, version, mode, needs)
	return cfg.connect(runtime, modelURL), err
}

func (c config) connect(runtime, modelURL string) Connection {
	if c.away {
		modelURL = nowhere
	}
	if runtime == "claude" {
		return Connection{Args: c.args, Model: c.model, Env: append([]string{
			"ANTHROPIC_BASE_URL=" + modelURL, "ANTHROPIC_API_KEY=dummy",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
			"IS_SANDBOX=1",
		}, c.env...)}
	}
	return Connection{Model: c.model, Args: append([]string{
		"-c", `model_provider="fake"`,
		"-c", fmt.Sprintf(`model_providers.fake={name="fake",base_url="%s/v1",wire_api="responses",requires_openai_auth=false}`, modelURL),
		"-c", fmt.Sprintf("model=%q", c.model),
		"-c", "analytics.enabled=false",
	}, c.args...)}
}

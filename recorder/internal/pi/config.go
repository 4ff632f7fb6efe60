package pi

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// config is how the runtime is started for what a scenario needs.
type config struct {
	asks        []string // the tools about whose calls the extension asks
	retries     int
	compacts    bool
	unreachable bool // the model cannot be reached
	dialogs     bool // an extension offers a tool that asks the user
	tools       []string
}

// The names of the provider and of its models, of which the first is the default.
const providerName = "scripted"

var models = []string{"river-1", "river-2"}

// askedTools are the tools that the extension asks about, by the modes of scenarios.
var askedTools = map[string][]string{
	"never": nil, "ask": {"bash", "edit", "write"}, "accept-edits": {"bash"},
}

// configFor returns how the runtime is started. The versions do not differ in it.
func configFor(mode string, needs []string) (config, error) {
	asks, ok := askedTools[mode]
	c := config{asks: asks, retries: 3}
	if !ok {
		return c, fmt.Errorf("mode: pi has no mode %q: write `not on pi: REASON` in the scenario", mode)
	}
	for _, n := range needs {
		switch n {
		case "permission", "steer":
		case "dialogs":
			c.dialogs = true
		case "few-retries":
			c.retries = 2
		case "compaction":
			c.compacts = true
		case "no-model":
			c.unreachable = true
		case "search-tools":
			c.tools = []string{"--tools", "read,bash,edit,write,grep,find,ls"}
		default:
			return c, fmt.Errorf("needs: pi has no configuration for %q: write `not on pi: REASON` in the scenario", n)
		}
	}
	return c, nil
}

func connect(_, mode string, needs []string, modelURL string) (drive.Connection, error) {
	c, err := configFor(mode, needs)
	return c.connection(modelURL), err
}

// connection writes the settings. A recording must not wait for the seconds between two
// requests, and the client of the model's API must not repeat a request by itself: the
// runtime does.
func (c config) connection(modelURL string) drive.Connection {
	if c.unreachable {
		modelURL = drive.Nowhere
	}
	var list []string
	for _, m := range models {
		list = append(list, fmt.Sprintf(`{"id":%q,"reasoning":true,"input":["text","image"],"contextWindow":100000,"maxTokens":8192,`+
			`"cost":{"input":1,"output":2,"cacheRead":0.1,"cacheWrite":0}}`, m))
	}
	return drive.Connection{
		Args: c.tools,
		Env:  []string{"PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1"},
		Home: map[string]string{
			".pi/agent/models.json": fmt.Sprintf(`{"providers":{%q:{"baseUrl":%q,"api":"openai-completions","apiKey":"dummy","models":[%s]}}}`,
				providerName, modelURL+"/v1", strings.Join(list, ",")),
			".pi/agent/settings.json": fmt.Sprintf(`{"defaultProvider":%q,"defaultModel":%q,"quietStartup":true,"compaction":{"enabled":%t,"keepRecentTokens":10},`+
				`"retry":{"enabled":true,"maxRetries":%d,"baseDelayMs":200,"provider":{"maxRetries":0}}}`, providerName, models[0], c.compacts, c.retries),
		},
	}
}

//go:embed permission.js
var permission string

//go:embed dialogs.js
var dialogs string

// extensionArgs writes the extensions, and returns the options that load them.
func (c config) extensionArgs(home string) (args []string, err error) {
	load := func(name, text string) {
		file := filepath.Join(home, name)
		args = append(args, "-e", file)
		err = errors.Join(err, os.WriteFile(file, []byte(text), 0o644))
	}
	if len(c.asks) > 0 {
		load("permission.js", strings.Replace(permission, "ASKED", `["`+strings.Join(c.asks, `","`)+`"]`, 1))
	}
	if c.dialogs {
		load("dialogs.js", dialogs)
	}
	return args, err
}

package codexcli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/proc"
)

// Executable returns CODEX_PATH, or codex as found on the child's PATH.
func Executable(env []string) string {
	return cmp.Or(proc.Getenv(env, "CODEX_PATH"), proc.LookPath(env, "codex"))
}

// ServerArgs returns the options that make the program use MCP servers. More is added to the
// settings of each.
func ServerArgs(servers []adapters.MCPServer, more string) []string {
	var args []string
	for _, s := range servers {
		v := serverSettings(s)
		v += more
		if strings.Contains(s.Name, ".") { // the runtime splits the key of -c at each point
			args = append(args, "-c", fmt.Sprintf("mcp_servers={%s={%s}}", tomlString(s.Name), v))
			continue
		}
		args = append(args, "-c", fmt.Sprintf("mcp_servers.%s={%s}", s.Name, v))
	}
	return args
}

// serverSettings returns how the program reaches a server.
func serverSettings(s adapters.MCPServer) string {
	if s.URL != "" {
		return "url=" + tomlString(s.URL) + tomlTable("http_headers", s.Headers)
	}
	var quoted []string
	for _, a := range s.Args {
		quoted = append(quoted, tomlString(a))
	}
	return fmt.Sprintf("command=%s,args=[%s]", tomlString(s.Command), strings.Join(quoted, ",")) + tomlTable("env", s.Env)
}

// tomlTable returns a member of a table whose value is a table of strings, or "" if that is
// empty.
func tomlTable(key string, values map[string]string) string {
	if len(values) == 0 {
		return ""
	}
	var members []string
	for _, k := range slices.Sorted(maps.Keys(values)) {
		members = append(members, tomlString(k)+"="+tomlString(values[k]))
	}
	return "," + key + "={" + strings.Join(members, ",") + "}"
}

// tomlString returns a TOML basic string. TOML has the escapes of JSON, except
// that the slash is not escaped.
func tomlString(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return `""` // not UTF-8: TOML cannot represent it
	}
	return string(b)
}

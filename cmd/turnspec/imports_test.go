package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/turnspec/turnspec/"

// pkg is the part of `go list -json` that the tests read.
type pkg struct {
	ImportPath, Name, Dir string
	GoFiles, Deps         []string
}

// packages lists the packages of the module with their dependencies, without those
// of tests.
func packages(t *testing.T) []pkg {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("go", "list", "-deps=false", "-json=ImportPath,Name,Dir,GoFiles,Deps", module+"...")
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var out []pkg
	for d := json.NewDecoder(bytes.NewReader(b)); ; {
		var p pkg
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	if len(out) < 15 {
		t.Fatalf("go list found only %d packages", len(out))
	}
	return out
}

// under reports whether an import path lies in one of the module's folders.
func under(importPath string, folders ...string) bool {
	rel, ours := strings.CutPrefix(importPath, module)
	return ours && slices.ContainsFunc(folders, func(f string) bool { return rel == f || strings.HasPrefix(rel, f+"/") })
}

// benchOnly lists libraries that users of the suite must not depend on.
var benchOnly = []string{"github.com/HdrHistogram/", "golang.org/x/perf/", "github.com/aclements/"}

// testOnly lists libraries with which tests compare.
var testOnly = []string{"github.com/zricethezav/gitleaks/", "github.com/owenrumney/go-sarif/"}

// The parts of the module that others than the suite's core are: what builds upon the
// events of adapters, with the tests that it has in the suite, and what only this project
// measures and explores with.
var (
	backEnd    = []string{"adapters/backend", "conformance/backend"}
	laboratory = []string{"conformance/lab", "fakes/model", "recorder"}
)

// ofCore reports whether a package is of the suite's core.
func ofCore(importPath string) bool {
	return under(importPath, "conformance", "fakes", "fixtures") && !under(importPath, backEnd...) && !under(importPath, laboratory...)
}

// forbidden returns why a package of the module must not depend on another, or "".
func forbidden(from, to string) string {
	switch {
	case strings.HasPrefix(to, "github.com/onsi/ginkgo") && !under(from, "conformance/suite/specs"):
		return "only conformance/suite/specs may import ginkgo: its import registers flags"
	case slices.ContainsFunc(benchOnly, func(lib string) bool { return strings.HasPrefix(to, lib) }) && !under(from, "conformance/lab/bench", "cmd"):
		return "only conformance/lab/bench may import what benchmarks count with: others import the suite"
	case slices.ContainsFunc(testOnly, func(lib string) bool { return strings.HasPrefix(to, lib) }):
		return "only tests compare with it: every build would compile it and what it imports"
	case strings.HasPrefix(to, "mvdan.cc/sh/") && under(from, "adapters") && !under(from, "adapters/backend/policy"):
		return "only adapters/backend/policy reads commands: an adapter takes a Judge, and brings no parsers along"
	case (strings.HasPrefix(to, "go.yaml.in/yaml/") || strings.HasPrefix(to, "github.com/pelletier/go-toml/")) && under(from, "adapters") && !under(from, "adapters/backend/policy", "adapters/backend/agentfile"):
		return "only adapters/backend/policy and adapters/backend/agentfile read files that people write: an adapter brings no parsers along"
	case strings.HasPrefix(to, "github.com/modelcontextprotocol/") && under(from, "adapters") && !under(from, "adapters/chat", "adapters/reference"):
		return "only adapters/chat uses MCP servers itself: the runtimes of other adapters do"
	case strings.HasPrefix(to, "github.com/coder/websocket") && under(from, "adapters", "conformance", "fixtures") && !under(from, "adapters/backend/sidecar", "conformance/lab/bench", "conformance/plug/sse"):
		return "only adapters/backend/sidecar speaks WebSocket, which benchmarks start, and its grader"
	case strings.HasPrefix(to, "modernc.org/") && !under(from, "adapters/backend/eventlog/sqlite", "cmd"):
		return "only adapters/backend/eventlog/sqlite brings SQLite along"
	case strings.HasPrefix(to, "github.com/jackc/") && !under(from, "adapters/backend/eventlog/postgres", "adapters/backend/eventlog/testserver", "cmd"):
		return "only adapters/backend/eventlog/postgres brings a client of PostgreSQL along"
	case strings.HasPrefix(to, "github.com/nats-io/") && !under(from, "adapters/backend/eventlog/nats", "adapters/backend/eventlog/testserver", "cmd"):
		return "only adapters/backend/eventlog/nats brings a client of NATS along"
	case strings.HasPrefix(to, "github.com/nats-io/nats-server/") && !under(from, "adapters/backend/eventlog/testserver"):
		return "only tests start a server of NATS"
	case !strings.HasPrefix(to, module):
		if under(from, "adapters/proc", "adapters/lines", "adapters/httplines", "adapters/op") && strings.Contains(strings.SplitN(to, "/", 2)[0], ".") {
			return "adapters/proc, lines, httplines and op import the standard library only"
		}
		return ""
	case under(from, "adapters/op"):
		return "adapters/op imports nothing else of the module: everything imports it"
	case under(from, "adapters/proc", "adapters/lines", "adapters/httplines") && !under(to, "adapters/lines", "adapters/proc"):
		return "adapters/proc, lines and httplines import nothing else of the module"
	case under(from, "adapters/event") && !under(to, "adapters/event", "adapters/lines"):
		return "adapters/event depends on no process"
	case under(from, "adapters") && !under(to, "adapters"):
		return "adapters import nothing of the other folders"
	case under(to, "adapters/op"):
		return ""
	case ofCore(from) && under(to, backEnd...):
		return "the suite's core judges strangers, who need no back end: conformance/backend joins the two"
	case ofCore(from) && under(to, laboratory...):
		return "the suite's core imports no laboratory"
	case under(from, "conformance/backend") && under(to, laboratory...):
		return "the back end imports no laboratory"
	case under(from, "adapters") && !under(from, backEnd...) && under(to, backEnd...):
		return "an adapter needs no back end"
	case under(from, "fixtures"):
		return "fixtures import nothing of the module"
	case under(from, "fakes") && !under(to, "fakes", "fixtures", "adapters/proc", "adapters/lines", "adapters/httplines", "adapters/event"):
		return "fakes share no code with adapters but proc, lines, httplines and event"
	case under(from, "recorder") && !under(to, "recorder", "fakes", "fixtures", "adapters/proc", "adapters/lines", "adapters/httplines", "adapters/event"):
		return "the recorder shares no code with adapters but proc, lines, httplines and event"
	case under(from, "conformance") && !under(from, "conformance/lab/bench") && under(to, "conformance/lab/bench"):
		return "the suite does not import what measures"
	case under(from, "conformance") && !under(from, "conformance/lab/live", "conformance/lab/drift", "conformance/lab/explore", "conformance/lab/requests") && under(to, "recorder"):
		return "only conformance/lab/live, drift, explore and requests join conformance and recorder"
	case !under(from, "cmd") && under(to, "cmd"):
		return "nothing imports cmd"
	}
	return ""
}

// sameTree reports whether both packages are in one tree whose packages may import
// each other.
func sameTree(from, to string) bool {
	for _, tree := range []string{"adapters/proc", "fixtures"} {
		if under(from, tree) && under(to, tree) {
			return true
		}
	}
	return false
}

func TestImportsGoOneWay(t *testing.T) {
	for _, p := range packages(t) {
		for _, dep := range p.Deps {
			if why := forbidden(p.ImportPath, dep); why != "" && !sameTree(p.ImportPath, dep) {
				t.Errorf("%s depends on %s: %s", p.ImportPath, dep, why)
			}
		}
	}
}

// maxModules is how many modules `go mod tidy` may add for a test of an adapter, which
// imports the suite and the corpus.
const maxModules = 8

func TestFewModulesComeWithTheSuite(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", module+"conformance/suite", module+"fixtures")
	b, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(b))
	slices.Sort(modules)
	modules = slices.DeleteFunc(slices.Compact(modules), func(m string) bool { return m+"/" == module })
	if len(modules) < 5 || len(modules) > maxModules {
		t.Errorf("%d modules, at most %d may come along: %s", len(modules), maxModules, strings.Join(modules, " "))
	}
}

func TestNoPackageIsADrawer(t *testing.T) {
	for _, p := range packages(t) {
		for _, name := range []string{p.Name, path.Base(p.ImportPath)} {
			if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "types", "misc", "shared"}, name) {
				t.Errorf("%s: a package called %s answers no question", p.ImportPath, name)
			}
		}
	}
}

// TestTheRulesForbid checks the rules themselves with known good and bad imports.
func TestTheRulesForbid(t *testing.T) {
	for _, c := range []struct {
		from, to string
		bad      bool
	}{
		{"adapters/codex", "fakes/standin", true},
		{"adapters/codex", "fixtures", true},
		{"adapters/codex", "recorder", true},
		{"adapters/codex", "conformance", true},
		{"adapters/codex", "adapters/internal/session", false},
		{"adapters/event", "adapters/proc", true},
		{"adapters/proc", "adapters/event", true},
		{"fakes/standin", "adapters/codex", true},
		{"fakes/standin", "adapters", true},
		{"fakes/standin", "adapters/proc", false},
		{"fakes/model", "recorder", true},
		{"recorder/internal/drive", "adapters/internal/session", true},
		{"recorder", "fakes/model", false},
		{"recorder", "conformance", true},
		{"fixtures", "adapters/event", true},
		{"fixtures", "adapters/op", false},
		{"recorder", "adapters/op", false},
		{"adapters/op", "adapters/event", true},
		{"conformance", "recorder", true},
		{"conformance/checks", "recorder/internal/drive", true},
		{"conformance/lab/live", "recorder/internal/drive", false},
		{"conformance/lab/drift", "fixtures/schema", false},
		{"conformance/report", "adapters/event", false},
		{"conformance/report", "adapters/backend/replay", true},
		{"conformance/checks/policy", "adapters/backend/policy", true},
		{"conformance/suite", "adapters/backend/component", true},
		{"conformance/suite", "conformance/backend", true},
		{"conformance/perform", "fakes/model", true},
		{"conformance/suite", "conformance/lab/live", true},
		{"conformance/suite", "conformance/checks", false},
		{"fakes/standin", "fakes/model", true},
		{"fakes/model", "fakes/mcp", false},
		{"conformance/backend", "conformance/checks", false},
		{"conformance/backend/golden", "adapters/backend/replay", false},
		{"conformance/backend", "conformance/lab/defects", true},
		{"conformance/lab/defects", "conformance/backend", false},
		{"conformance/lab/live", "fakes/model", false},
		{"adapters/codex", "adapters/backend/policy", true},
		{"adapters/internal/session", "adapters/backend/eventlog", true},
		{"adapters/backend/sidecar", "adapters/backend/replay", false},
		{"adapters/backend/sidecar", "adapters/reference", false},
		{"conformance", "cmd/turnspec", true},
		{"conformance", "conformance/lab/bench", true},
		{"conformance/lab/bench", "conformance", false},
	} {
		if got := forbidden(module+c.from, module+c.to) != ""; got != c.bad {
			t.Errorf("%s → %s: forbidden %v, want %v", c.from, c.to, got, c.bad)
		}
	}
	for from, bad := range map[string]bool{"conformance": true, "conformance/lab/live": true, "cmd/turnspec": true, "conformance/suite": true, "conformance/suite/specs": false} {
		if got := forbidden(module+from, "github.com/onsi/ginkgo/v2") != ""; got != bad {
			t.Errorf("%s → ginkgo: forbidden %v, want %v", from, got, bad)
		}
	}
	for from, bad := range map[string]bool{"conformance": true, "conformance/report": true, "adapters/codex": true, "conformance/lab/bench/report": false, "cmd/turnspec": false} {
		if got := forbidden(module+from, "golang.org/x/perf/benchmath") != ""; got != bad {
			t.Errorf("%s → benchmath: forbidden %v, want %v", from, got, bad)
		}
	}
	for _, to := range []string{"github.com/zricethezav/gitleaks/v8/detect", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"} {
		if forbidden(module+"cmd/turnspec", to) == "" || forbidden(module+"recorder/redact", to) == "" {
			t.Errorf("%s is allowed outside tests", to)
		}
	}
	for from, bad := range map[string]bool{"adapters": true, "adapters/codex": true, "adapters/backend/policy": false, "cmd/turnspec": false} {
		for _, to := range []string{"mvdan.cc/sh/v3/syntax", "go.yaml.in/yaml/v3", "github.com/pelletier/go-toml/v2"} {
			if got := forbidden(module+from, to) != ""; got != bad {
				t.Errorf("%s → %s: forbidden %v, want %v", from, to, got, bad)
			}
		}
	}
	if forbidden(module+"adapters/backend/agentfile", "go.yaml.in/yaml/v3") != "" || forbidden(module+"adapters/backend/agentfile", "mvdan.cc/sh/v3/syntax") == "" {
		t.Error("adapters/backend/agentfile: YAML and TOML, and no shell")
	}
	for from, bad := range map[string]bool{"adapters/backend/page": true, "conformance/plug/acp": true, "conformance/plug/sse": false, "adapters/backend/sidecar": false, "cmd/turnspec": false} {
		if got := forbidden(module+from, "github.com/coder/websocket") != ""; got != bad {
			t.Errorf("%s → websocket: forbidden %v, want %v", from, got, bad)
		}
	}
	for from, bad := range map[string]bool{"adapters/backend/eventlog": true, "adapters/backend/replay": true, "conformance": true, "adapters/backend/eventlog/sqlite": false, "cmd/turnspec": false} {
		if got := forbidden(module+from, "modernc.org/sqlite") != ""; got != bad {
			t.Errorf("%s → sqlite: forbidden %v, want %v", from, got, bad)
		}
	}
	if forbidden(module+"adapters/proc", "golang.org/x/sys/unix") == "" || forbidden(module+"adapters/proc", "os/exec") != "" {
		t.Error("adapters/proc: standard library only")
	}
}

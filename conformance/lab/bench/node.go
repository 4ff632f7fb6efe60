package bench

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
)

//go:embed node/stream.mjs
var nodeStream []byte

//go:embed node/step.mjs
var nodeStep []byte

// sdkScripts drive the official JavaScript clients that report deltas: node/sdk/RUNTIME.mjs, if
// there is one. Its first line names the package, which is installed in node_modules.
//
//go:embed node/sdk
var sdkScripts embed.FS

// sdkOf returns the package of the official client of a runtime, and the script that drives it;
// "" if there is none.
func sdkOf(runtime string) (pkg string, script []byte) {
	script, err := sdkScripts.ReadFile("node/sdk/" + runtime + ".mjs")
	if err != nil {
		return "", nil
	}
	first, _, _ := bytes.Cut(script, []byte("\n"))
	return strings.TrimPrefix(string(first), "// package: "), script
}

// nodeMissing returns the reason if there is no Node control, or "".
func nodeMissing() string {
	if _, err := exec.LookPath("node"); err != nil {
		return "node is not in PATH: the controls in JavaScript and the ratios to them are left out"
	}
	return ""
}

// nodeControl is a Node program that holds all sessions.
func nodeControl() Contender {
	return Contender{
		Name: Node, Control: true, alone: true, external: true,
		all: func(ctx context.Context, places []place, _ string, o *observed) (usage, error) {
			return performNode(ctx, "stream.mjs", nodeStream, places, o)
		},
	}
}

// sdkControl is the official client of a runtime, installed in dir.
func sdkControl(runtime, dir string) Contender {
	return Contender{
		Name: SDK, Control: true, external: true,
		all: func(ctx context.Context, places []place, text string, o *observed) (usage, error) {
			_, script := sdkOf(runtime)
			return performNode(ctx, "sdk.mjs", script, places, o, dir, text)
		},
	}
}

// sdkMissing returns why there is no official client of a runtime, or "".
func sdkMissing(runtime, dir string) string {
	pkg, _ := sdkOf(runtime)
	if pkg == "" {
		return runtime + ": no official JavaScript client reports deltas: the control " + SDK + " is left out"
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", filepath.FromSlash(pkg))); err != nil {
		return "the official client is not installed in " + dir + ", `make test-clients` installs it: the control " + SDK + " is left out"
	}
	return ""
}

// nodeTarget is where the Node program finds a session.
type nodeTarget struct {
	Exec   string `json:"exec,omitzero"`
	Socket string `json:"socket,omitzero"`
}

// nodeReport is what the Node program reports of a session: times by the shared clock, and
// for each delta its index and its delay since it was due and since it was sent.
type nodeReport struct {
	Opened int64   `json:"opened"`
	Bound  int64   `json:"bound"`
	Sent   int64   `json:"sent"`
	First  int64   `json:"first"`
	Last   int64   `json:"last"`
	Got    []int64 `json:"got"`
}

func performNode(ctx context.Context, name string, script []byte, places []place, o *observed, args ...string) (usage, error) {
	var u usage
	in := struct {
		Targets []nodeTarget `json:"targets"`
		Deltas  int          `json:"deltas"`
		Rate    float64      `json:"rate"`
	}{Deltas: o.plan.Deltas, Rate: o.plan.Rate}
	for _, at := range places {
		t := nodeTarget{Socket: at.socket}
		if at.socket == "" {
			t.Exec = at.program
		}
		in.Targets = append(in.Targets, t)
	}
	arg, err := json.Marshal(in)
	if err != nil {
		return u, err
	}
	out, err := runNode(ctx, filepath.Dir(places[0].dir), name, script, places[0].env, append([]string{string(arg)}, args...)...)
	if err != nil {
		return u, err
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if len(lines) != len(places)+1 {
		return u, fmt.Errorf("node reported %d sessions, want %d", len(lines)-1, len(places))
	}
	for _, l := range lines[:len(places)] {
		var s nodeReport
		if err := json.Unmarshal(l, &s); err != nil {
			return u, err
		}
		w := o.watch()
		w.clicked, w.bound, w.sent, w.accepted, w.firstDelta = s.Opened, s.Bound, s.Sent, s.Sent, s.First
		for i := 0; i+2 < len(s.Got); i += 3 {
			if k := int(s.Got[i]); k < len(w.seen) && !w.seen[k] {
				w.seen[k] = true
				w.count++
				o.record(s.Got[i+1], s.Got[i+2])
			}
		}
		w.ended = s.Last
		if w.missingDeltas() > 0 {
			return u, fmt.Errorf("node: %d of %d deltas came", w.count, len(w.seen))
		}
	}
	var whole struct {
		CPU float64 `json:"cpu"`
		RSS float64 `json:"rss"`
	}
	if err := json.Unmarshal(lines[len(places)], &whole); err != nil {
		return u, err
	}
	return usage{cpu: whole.CPU, peak: whole.RSS}, nil
}

// runNode runs a script and returns its stdout.
func runNode(ctx context.Context, dir, name string, script []byte, env []string, args ...string) ([]byte, error) {
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, script, 0o600); err != nil {
		return nil, err
	}
	program, err := exec.LookPath("node")
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, append([]string{file}, args...)...)
	var stderr strings.Builder
	cmd.Env, cmd.Stderr = env, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("node %s: %w", name, err), errors.New(stderr.String()))
	}
	return out, nil
}

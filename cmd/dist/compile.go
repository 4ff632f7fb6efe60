package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// compile builds the program for a target. Nothing of this machine is in it: neither
// its paths nor the variables that choose other instructions or libraries.
func (r *release) compile(t target) ([]byte, error) {
	out := filepath.Join(r.Out, filepath.FromSlash(t.binary()))
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "build", "-tags", "databases", "-trimpath", "-buildvcs=false",
		"-ldflags", fmt.Sprintf("-s -w -buildid= -X main.version=%s -X main.commit=%s", r.Version, r.Commit), "-o", out, "./cmd/turnspec")
	cmd.Dir = r.Source
	if !filepath.IsAbs(out) {
		abs, err := filepath.Abs(out)
		if err != nil {
			return nil, err
		}
		cmd.Args[len(cmd.Args)-2] = abs
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "GOFLAGS" && name != "GOEXPERIMENT" {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GOOS="+t.OS, "GOARCH="+t.Arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOWORK=off")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, msg)
	}
	return os.ReadFile(out)
}

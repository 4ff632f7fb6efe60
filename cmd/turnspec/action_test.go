package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v3"
)

// action is the part of a GitHub Action's description that the tests read.
type action struct {
	Inputs map[string]struct {
		Description string
		Default     string
	}
	Runs struct {
		Using string
		Steps []struct {
			If, Uses, Run, Shell string
			Dir                  string `yaml:"working-directory"`
			Env                  map[string]string
		}
	}
}

func readAction(t *testing.T) action {
	t.Helper()
	g := NewWithT(t)
	b, err := os.ReadFile("../../action.yml")
	g.Expect(err).NotTo(HaveOccurred())
	var a action
	g.Expect(yaml.Unmarshal(b, &a)).To(Succeed())
	return a
}

var inputName = regexp.MustCompile(`inputs\.([a-z-]+)`)

// TestAction checks that each input is described and used, that no input is pasted
// into a script, where a shell would interpret it, and that each flag exists.
func TestAction(t *testing.T) {
	g := NewWithT(t)
	a := readAction(t)
	g.Expect(a.Runs.Using).To(Equal("composite"))
	used := map[string]bool{}
	for _, s := range a.Runs.Steps {
		g.Expect(s.Run).NotTo(ContainSubstring("${{"), "an input is no part of a script")
		g.Expect(s.Run == "" || s.Shell == "bash").To(BeTrue())
		texts := []string{s.If, s.Dir}
		for _, v := range s.Env {
			texts = append(texts, v)
		}
		for _, m := range inputName.FindAllStringSubmatch(strings.Join(texts, "\n"), -1) {
			used[m[1]] = true
		}
		for _, m := range regexp.MustCompile(`args\+=\(--([a-z]+)`).FindAllStringSubmatch(s.Run, -1) {
			g.Expect(runCmd().Flags().Lookup(m[1])).NotTo(BeNil(), m[1])
		}
	}
	for name, in := range a.Inputs {
		g.Expect(in.Description).NotTo(BeEmpty(), name)
		g.Expect(used).To(HaveKey(name))
	}
	g.Expect(used).To(HaveLen(len(a.Inputs)), "an input that is used is described")
}

// TestActionRuns checks that the script passes each input as one argument, whatever
// it contains.
func TestActionRuns(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here; the action runs where there is")
	}
	g := NewWithT(t)
	a := readAction(t)
	script := a.Runs.Steps[len(a.Runs.Steps)-1]
	bin := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(bin, "turnspec"), []byte("#!"+bash+"\nprintf '<%s>' \"$@\"\n"), 0o755)).To(Succeed())
	run := func(inputs map[string]string) (string, error) {
		cmd := exec.CommandContext(t.Context(), bash, "-eo", "pipefail", "-c", script.Run)
		cmd.Env = []string{"PATH=" + bin}
		for name, text := range script.Env {
			in := inputName.FindStringSubmatch(text)[1]
			v, ok := inputs[in]
			if !ok {
				v = a.Inputs[in].Default
			}
			cmd.Env = append(cmd.Env, name+"="+v)
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	args := func(inputs map[string]string) string {
		out, err := run(inputs)
		g.Expect(err).NotTo(HaveOccurred(), out)
		return out
	}
	for _, empty := range []map[string]string{nil, {"subject": " "}, {"runtime": "claude", "args": "--case\n--acp is none"}} {
		out, err := run(empty)
		exit, _ := errors.AsType[*exec.ExitError](err)
		g.Expect(exit).NotTo(BeNil(), out)
		g.Expect(exit.ExitCode()).To(Equal(2))
		g.Expect(out).To(ContainSubstring("the input subject is empty"))
	}
	g.Expect(args(map[string]string{"subject": "reference"})).To(Equal("<run><--report><github>"))
	g.Expect(args(map[string]string{"runtime": "codex", "args": "--acp\n--\nmy-agent"})).To(Equal("<run><--runtime><codex><--report><github><--acp><--><my-agent>"))
	g.Expect(args(map[string]string{"subject": "python3 'my adapter.py' $(date)", "runtime": "claude", "shard": "2/5", "known": "known.txt",
		"report": "html=a b.html\njunit=x.xml\n", "summary": "false", "args": "--case\ntext/*"})).To(Equal(
		"<run><--subject><python3 'my adapter.py' $(date)><--runtime><claude><--shard><2/5><--known><known.txt><--report><html=a b.html><--report><junit=x.xml><--case><text/*>"))
}

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
		Steps []actionStep
	}
}

type actionStep struct {
	ID, If, Uses, Run, Shell string
	Dir                      string `yaml:"working-directory"`
	Env                      map[string]string
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

// TestActionLists checks that the action names each runtime and each way to name a
// subject.
func TestActionLists(t *testing.T) {
	g := NewWithT(t)
	a := readAction(t)
	words := strings.FieldsFunc(a.Inputs["runtime"].Description, func(r rune) bool { return strings.ContainsRune(" ,:", r) })
	for _, name := range runtimeNames() {
		g.Expect(words).To(ContainElement(name))
	}
	script := a.Runs.Steps[len(a.Runs.Steps)-1].Run
	g.Expect(script).To(ContainSubstring("--(" + strings.Join([]string{subjectFlag, acpFlag, runnerFlag, httpFlag}, "|") + ")"))
	for _, kind := range []subjectKind{kindACP, kindRunner, kindReference} {
		g.Expect(a.Inputs["subject"].Description).To(ContainSubstring(string(kind)))
	}
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
	g.Expect(args(map[string]string{"subject": "reference"})).To(Equal("<run><--full><--report><github>"))
	g.Expect(args(map[string]string{"runtime": "codex", "args": "--acp\n--\nmy-agent"})).To(Equal("<run><--full><--runtime><codex><--report><github><--acp><--><my-agent>"))
	g.Expect(args(map[string]string{"runtime": "codex", "args": "--subject\nacp\n--\nmy-agent"})).To(Equal("<run><--full><--runtime><codex><--report><github><--subject><acp><--><my-agent>"))
	g.Expect(args(map[string]string{"runtime": "claude", "args": "--runner\n--\nmy-runner"})).To(Equal("<run><--full><--runtime><claude><--report><github><--runner><--><my-runner>"))
	g.Expect(args(map[string]string{"subject": "python3 'my adapter.py' $(date)", "runtime": "claude", "shard": "2/5", "known": "known.txt",
		"report": "html=a b.html\njunit=x.xml\n", "summary": "false", "args": "--case\ntext/*"})).To(Equal(
		"<run><--full><--subject><python3 'my adapter.py' $(date)><--runtime><claude><--shard><2/5><--known><known.txt><--report><html=a b.html><--report><junit=x.xml><--case><text/*>"))
}

// TestActionDownloads checks that the action downloads the release of its tag for the
// platform, verifies it, and asks for a build if there is none.
func TestActionDownloads(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here; the action runs where there is")
	}
	g := NewWithT(t)
	archive := packedProgram(t, "#!"+bash+"\necho the release\n")
	sum := fmt.Sprintf("%x", sha256.Sum256(archive))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1.2.3/turnspec_1.2.3_linux_arm64.tar.gz", "/v6.6.6/turnspec_6.6.6_linux_arm64.tar.gz":
			_, _ = w.Write(archive)
		case "/v1.2.3/checksums.txt":
			fmt.Fprintf(w, "%s  turnspec_1.2.3_linux_arm64.tar.gz\n", sum)
		case "/v6.6.6/checksums.txt":
			fmt.Fprintf(w, "%064d  turnspec_6.6.6_linux_arm64.tar.gz\n", 0)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	for _, try := range []struct {
		name, version, ref string
		build              string
	}{
		{"the tag of the action", "", "v1.2.3", "false"},
		{"a version", "1.2.3", "main", "false"},
		{"a branch", "", "main", "true"},
		{"no such release", "", "v9.9.9", "true"},
		{"an archive with another checksum", "v6.6.6", "main", "true"},
	} {
		tools := t.TempDir()
		outputs := map[string]string{"VERSION": try.version, "REF": try.ref}
		env := append(os.Environ(), "RUNNER_OS=Linux", "RUNNER_ARCH=ARM64", "RUNNER_TOOL_CACHE="+tools)
		for _, id := range []string{"release", "download"} {
			for name, value := range runStep(t, bash, id, append(env, "RELEASES="+server.URL), outputs) {
				outputs[strings.ToUpper(name)] = value
			}
		}
		g.Expect(outputs).To(HaveKeyWithValue("BUILD", try.build), try.name)
		if try.build == "false" {
			out, err := exec.Command(filepath.Join(outputs["PATH_ADDED"], "turnspec")).Output()
			g.Expect(err).NotTo(HaveOccurred(), try.name)
			g.Expect(string(out)).To(Equal("the release\n"), try.name)
		}
	}
}

// runStep runs a step of the action and returns its outputs; path_added is what it
// added to the path.
func runStep(t *testing.T, bash, id string, env []string, with map[string]string) map[string]string {
	t.Helper()
	g := NewWithT(t)
	steps := readAction(t).Runs.Steps
	i := slices.IndexFunc(steps, func(s actionStep) bool { return s.ID == id })
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), bash, "-eo", "pipefail", "-c", steps[i].Run)
	cmd.Env = slices.Concat(env, []string{"GITHUB_OUTPUT=" + filepath.Join(dir, "output"), "GITHUB_PATH=" + filepath.Join(dir, "path")})
	for name, value := range with {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	msg, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(msg))
	out := map[string]string{}
	b, err := os.ReadFile(filepath.Join(dir, "output"))
	g.Expect(err).NotTo(HaveOccurred())
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		out[name] = value
	}
	if b, err := os.ReadFile(filepath.Join(dir, "path")); err == nil {
		out["path_added"] = strings.TrimSpace(string(b))
	}
	return out
}

// packedProgram returns an archive of a release, with a script in place of the program.
func packedProgram(t *testing.T, script string) []byte {
	t.Helper()
	g := NewWithT(t)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{"turnspec": script, "LICENSE": "MIT"} {
		g.Expect(w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))})).To(Succeed())
		_, err := w.Write([]byte(text))
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(w.Close()).To(Succeed())
	g.Expect(z.Close()).To(Succeed())
	return b.Bytes()
}

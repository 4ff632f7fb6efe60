//go:build live

package live

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fakes/model"
	"github.com/turnspec/turnspec/fixtures"
	wires "github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/registry"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// programDir is the folder of what turnspec builds.
var programDir string

func removeProgram() {
	if programDir != "" {
		_ = os.RemoveAll(programDir)
	}
}

// turnspec builds the program once. TestMain removes it.
var turnspec = sync.OnceValues(func() (_ string, err error) {
	if programDir, err = os.MkdirTemp("", "turnspec-program-"); err != nil {
		return "", err
	}
	program := filepath.Join(programDir, "turnspec")
	out, err := exec.Command("go", "build", "-o", program, "github.com/turnspec/turnspec/cmd/turnspec").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
})

// machine holds what servers need: real runtimes, and a scripted model for each.
type machine struct {
	t      *testing.T
	g      *WithT
	rooms  *isolate.Rooms
	env    []string
	models map[string]*model.Server
}

// newMachine prepares the runtimes of scenarios, by their names.
func newMachine(t *testing.T, scenarios map[string]string) *machine {
	t.Helper()
	g := NewWithT(t)
	rooms, err := isolate.NewRooms()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = rooms.Remove() })
	m := &machine{t: t, g: g, rooms: rooms, models: map[string]*model.Server{}}
	var paths []string
	for name, text := range scenarios {
		scn, err := fixtures.ParseScenario("server.txtar", "session/server", []byte(text))
		g.Expect(err).NotTo(HaveOccurred())
		rt, err := runtimes.Find("", name, "")
		g.Expect(err).NotTo(HaveOccurred())
		driven, err := registry.Get(name)
		g.Expect(err).NotTo(HaveOccurred())
		m.models[name], err = model.Start(scn, model.Options{Dir: rooms.Work, Aside: driven.Aside})
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { _ = m.models[name].Close() })
		conn, err := registry.Connect(name, rt.Version, scn.InitialMode(), scn.Needs, m.models[name].URL())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(conn.WriteHome(rooms.Home)).To(Succeed())
		paths = append(paths, rt.Path...)
		m.env = append(append(m.env, conn.Env...), wires.Find(name).ProgramEnv[0]+"="+m.wrapper(name, rt.Binary, conn.Args))
	}
	m.env = append(rooms.Env(paths...), m.env...)
	return m
}

// wrapper writes a program that starts a runtime with further arguments, and notes its process
// in NAME.pid.
func (m *machine) wrapper(name, program string, args []string) string {
	script := "#!/bin/sh\necho $$ >" + quote(filepath.Join(m.rooms.Root, name+".pid")) + "\nexec " + quote(program) + ` "$@"`
	for _, a := range args {
		script += " " + quote(a)
	}
	file := filepath.Join(m.rooms.Root, "with-model-"+name)
	m.g.Expect(os.WriteFile(file, []byte(script+"\n"), 0o755)).To(Succeed())
	return file
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// served is a running `turnspec serve`.
type served struct {
	*machine
	cmd *exec.Cmd
	url string
	log *bytes.Buffer
}

// serve starts a server, whose log is in the rooms.
func (m *machine) serve(args ...string) *served {
	m.t.Helper()
	program, err := turnspec()
	m.g.Expect(err).NotTo(HaveOccurred())
	args = append([]string{"serve", "--no-token", "--log", filepath.Join(m.rooms.Root, "log.db"), "--dir", m.rooms.Home}, args...)
	for name := range m.models {
		args = append(args, "--runtime", name)
	}
	s := &served{machine: m, cmd: exec.Command(program, args...), log: &bytes.Buffer{}}
	s.cmd.Env, s.cmd.Stderr = slices.Concat(m.env, []string{"PORT=0"}), s.log
	out, err := s.cmd.StdoutPipe()
	m.g.Expect(err).NotTo(HaveOccurred())
	m.g.Expect(s.cmd.Start()).To(Succeed())
	m.t.Cleanup(s.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	m.g.Expect(err).NotTo(HaveOccurred())
	s.url = regexp.MustCompile(`http://[^,\s]+`).FindString(line)
	m.g.Expect(s.url).NotTo(BeEmpty(), line)
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return s
}

// kill kills the server as a crash does. What it started lives on.
func (s *served) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// call sends a request, which must succeed, and decodes the answer.
func (s *served) call(method, path, body string) map[string]any {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	s.g.Expect(err).NotTo(HaveOccurred())
	res, err := http.DefaultClient.Do(r)
	s.g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	s.g.Expect(err).NotTo(HaveOccurred())
	s.g.Expect(res.StatusCode).To(BeNumerically("<", 300), "%s %s: %s\n%s", method, path, b, s.log)
	var out map[string]any
	s.g.Expect(json.Unmarshal(b, &out)).To(Succeed())
	return out
}

// history returns the events of the log.
func (s *served) history(session string) (out []event.Event) {
	s.t.Helper()
	res, err := http.Get(s.url + "/sessions/" + session + "/history?limit=10000")
	s.g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = res.Body.Close() }()
	var page struct {
		Events []jsontext.Value `json:"events"`
	}
	s.g.Expect(json.UnmarshalRead(res.Body, &page)).To(Succeed())
	for _, line := range page.Events {
		e, err := event.Decode(line)
		s.g.Expect(err).NotTo(HaveOccurred())
		out = append(out, e)
	}
	return out
}

// listener is a client that listens to a session, and comes back to the next server.
type listener struct {
	mu     sync.Mutex
	events []event.Event
}

func (l *listener) all() []event.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]event.Event(nil), l.events...)
}

// listen reads the stream of a session after the last event that it has, until the stream
// ends.
func (l *listener) listen(s *served, session string) (ended chan struct{}) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/sessions/%s/events?after=%d", s.url, session, len(l.all())), http.NoBody)
	s.g.Expect(err).NotTo(HaveOccurred())
	res, err := http.DefaultClient.Do(r) //nolint:bodyclose // the goroutine below closes it
	s.g.Expect(err).NotTo(HaveOccurred())
	s.g.Expect(res.StatusCode).To(Equal(http.StatusOK))
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		defer cancel()
		defer func() { _ = res.Body.Close() }()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			data, is := strings.CutPrefix(lines.Text(), "data: ")
			if !is {
				continue
			}
			e, err := event.Decode([]byte(data))
			if err != nil {
				return // the server was killed within the line
			}
			l.mu.Lock()
			l.events = append(l.events, e)
			l.mu.Unlock()
		}
	}()
	return ended
}

// textOf returns the text of the events.
func textOf(events []event.Event) string {
	var b strings.Builder
	for _, e := range events {
		if d, is := e.Data.(event.Delta); is && e.SubagentID == "" {
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

// dataOf returns the events of one type.
func dataOf[T event.Data](events []event.Event) (out []T) {
	for _, e := range events {
		if d, is := e.Data.(T); is {
			out = append(out, d)
		}
	}
	return out
}

// killedInMidTurn is the model of a session whose server is killed in its second turn.
const killedInMidTurn = `The server is killed in mid-turn.

-- scenario --
topic: session
mode: ask
-- client --
send m1: Hello.
send m2: Tell me about tides.
send m3: Go on.
-- model --
[{"on":"m1"},{"text":["Hello."]}]
[{"on":"m2"},{"text":["The moon ","pulls"]},{"hold":"h1"}]
[{"on":"m3"},{"text":["And the sea follows."]}]
`

// recoveryLimit is how long a server may take, from its start, until the sessions of one that
// was killed are resumed or ended, on a slow machine.
const recoveryLimit = 30 * time.Second

// TestKilledServer kills `turnspec serve` with SIGKILL while the real runtime is in mid-turn,
// and starts it again. The session must be resumed on the runtime, or found failed with the
// typed error; the log has no gap; and a listener that comes back has what the log has.
func TestKilledServer(t *testing.T) {
	for _, runtime := range []string{"claude", "codex"} {
		for _, recovery := range []string{"resume", "close", "leave"} {
			t.Run(runtime+"/"+recovery, func(t *testing.T) {
				m := newMachine(t, map[string]string{runtime: killedInMidTurn})
				testKilledServer(m, runtime, recovery)
			})
		}
	}
}

func testKilledServer(m *machine, runtime, recovery string) {
	m.t.Helper()
	g := m.g
	s := m.serve()
	open, err := json.Marshal(map[string]any{"session_id": "s", "params": map[string]string{"workingDir": m.rooms.Work, "permissionMode": "default"}})
	g.Expect(err).NotTo(HaveOccurred())
	s.call(http.MethodPost, "/sessions", string(open))
	var l listener
	ended := l.listen(s, "s")
	s.call(http.MethodPost, "/sessions/s/message", `{"message_id":"m1","message":"Hello."}`)
	g.Eventually(func() []event.Done { return dataOf[event.Done](l.all()) }).WithTimeout(time.Minute).Should(HaveLen(1))
	s.call(http.MethodPost, "/sessions/s/message", `{"message_id":"m2","message":"Tell me about tides."}`)
	g.Eventually(func() string { return textOf(l.all()) }).WithTimeout(time.Minute).Should(HaveSuffix("The moon pulls"))
	s.kill()
	<-ended
	before := len(l.all())
	began := time.Now()
	s = m.serve("--recover", recovery)
	if recovery == "leave" {
		run := s.call(http.MethodGet, "/sessions/s", "")
		g.Expect(run).To(HaveKeyWithValue("state", "failed"), "nothing runs its turn")
		s.call(http.MethodPost, "/sessions/s/resume", "")
	}
	ended = l.listen(s, "s")
	g.Eventually(func() []event.SessionEnd { return dataOf[event.SessionEnd](l.all()) }).WithTimeout(recoveryLimit).Should(HaveLen(1))
	errs := dataOf[event.Error](l.all())
	g.Expect(errs).To(HaveLen(1))
	g.Expect(errs[0].Code).To(Equal(event.ErrorCrash))
	if recovery == "close" {
		g.Eventually(ended).WithTimeout(recoveryLimit).Should(BeClosed(), "the stream of a session that ended ends")
		run := s.call(http.MethodGet, "/sessions/s", "")
		g.Expect(run).To(HaveKeyWithValue("state", "failed"))
		s.call(http.MethodPost, "/sessions/s/resume", "")
		ended = l.listen(s, "s")
	}
	g.Eventually(func() []event.SessionReady { return dataOf[event.SessionReady](l.all()) }).WithTimeout(recoveryLimit).Should(HaveLen(2))
	m.t.Logf("resumed %v after the start of the server", time.Since(began).Round(time.Millisecond))
	ready := dataOf[event.SessionReady](l.all())
	g.Expect(ready[1].Resumed).To(BeTrue())
	g.Expect(ready[1].ProviderSessionID).To(Equal(ready[0].ProviderSessionID))
	g.Expect(ready[1].Cwd).To(Equal(ready[0].Cwd))
	g.Expect(ready[1].Mode).To(Equal(ready[0].Mode))

	s.call(http.MethodPost, "/sessions/s/message", `{"message_id":"m2","message":"Tell me about tides."}`) // a repetition
	s.call(http.MethodPost, "/sessions/s/message", `{"message_id":"m3","message":"Go on."}`)
	g.Eventually(func() []event.Done { return dataOf[event.Done](l.all()) }).WithTimeout(time.Minute).Should(HaveLen(2))
	g.Expect(textOf(l.all()[before:])).To(Equal("And the sea follows."))
	g.Expect(m.models[runtime].Err()).NotTo(HaveOccurred())
	s.call(http.MethodDelete, "/sessions/s", "")
	g.Eventually(ended).WithTimeout(recoveryLimit).Should(BeClosed())
	g.Expect(l.all()).To(Equal(s.history("s")), "the listener has what the log has")
	for i, e := range l.all() {
		g.Expect(e.Seq).To(BeEquivalentTo(i+1), "the log has no gap")
	}
}

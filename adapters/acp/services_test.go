package acp

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/fakeproc"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
)

// asker is an agent in a turn that sends requests about files and terminals.
type asker struct {
	*fakeproc.Process
	WithT
	t       *testing.T
	s       adapters.Session
	init    string // the line of initialize
	prompt  jsontext.Value
	replies chan answer
	events  chan event.Event
	asked   int
}

// answer is the reply to a request of the agent.
type answer struct {
	ID     jsontext.Value `json:"id"`
	Result jsontext.Value `json:"result"`
	Error  struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	failed bool
}

// startAsker opens a session with the agent and begins a turn.
func startAsker(t *testing.T, a Adapter, o adapters.Options) *asker {
	t.Helper()
	x := &asker{Process: fakeproc.New(), WithT: *NewWithT(t), t: t, replies: make(chan answer, 100), events: make(chan event.Event, 1000)}
	opened := make(chan struct{})
	go x.read(opened)
	o.Launch, o.Mode = x, adapters.ModeNever
	s, err := a.Open(t.Context(), o)
	x.Expect(err).NotTo(HaveOccurred())
	x.s = s
	go func() {
		for e := range s.Events() {
			x.events <- e
		}
		close(x.events)
	}()
	x.Expect(s.Send(t.Context(), adapters.Message{ID: "m1", Text: "Go."})).To(Succeed())
	<-opened
	t.Cleanup(func() { _ = s.Close(t.Context()) }) // a test that closes it judges the error
	return x
}

// read reads what the client writes. It closes prompted when the turn has begun.
func (x *asker) read(prompted chan<- struct{}) {
	for in := bufio.NewScanner(x.In); in.Scan(); {
		var m struct {
			answer
			Method string `json:"method"`
		}
		_ = json.Unmarshal(in.Bytes(), &m) // the client writes valid lines
		switch m.Method {
		case "initialize":
			x.init = in.Text()
			x.Print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"x","version":"1"}}}`, m.ID))
		case "session/new":
			x.Print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s1"}}`, m.ID))
		case "session/set_mode":
			x.Print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID))
		case "session/prompt":
			x.prompt = m.ID
			close(prompted)
		case "":
			m.failed = m.Error.Code != 0
			x.replies <- m.answer
		}
	}
	x.Exit(proc.Exit{})
}

// send sends a request without waiting for its reply.
func (x *asker) send(method string, params any) {
	b, err := json.Marshal(params)
	x.Expect(err).NotTo(HaveOccurred())
	x.asked++
	x.Print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, 1000+x.asked, method, b))
}

func (x *asker) reply() answer {
	x.t.Helper()
	select {
	case a := <-x.replies:
		return a
	case <-time.After(time.Minute):
		x.t.Fatal("no reply")
		return answer{}
	}
}

func (x *asker) ask(method string, params any) answer {
	x.t.Helper()
	x.send(method, params)
	return x.reply()
}

type object map[string]any

func (x *asker) content(path string, more ...any) string {
	x.t.Helper()
	p := object{"sessionId": "s1", "path": path}
	for i := 0; i < len(more); i += 2 {
		p[more[i].(string)] = more[i+1]
	}
	a := x.ask("fs/read_text_file", p)
	x.Expect(a.failed).To(BeFalse(), "%s", a.Error.Message)
	return lenient.Decode[struct {
		Content string `json:"content"`
	}](a.Result).Content
}

func writeTestFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestNothingIsOfferedUnlessAsked(t *testing.T) {
	x := startAsker(t, Adapter{}, adapters.Options{Opening: op.Opening{Dir: t.TempDir()}})
	x.Expect(x.init).To(ContainSubstring(`"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false`))
	x.Expect(x.ask("fs/read_text_file", object{"path": "/x"}).Error.Code).To(Equal(codeMethodNotFound))
	x.Expect(x.ask("terminal/create", object{"command": "true"}).Error.Code).To(Equal(codeMethodNotFound))
}

func TestFilesAreReadInPart(t *testing.T) {
	dir := t.TempDir()
	x := startAsker(t, Adapter{Files: true}, adapters.Options{Opening: op.Opening{Dir: dir}})
	x.Expect(x.init).To(ContainSubstring(`"fs":{"readTextFile":true,"writeTextFile":true},"terminal":false`))
	path := filepath.Join(dir, "a.txt")
	writeTestFile(t, path, "one\ntwo\nthree")
	x.Expect(x.content(path)).To(Equal("one\ntwo\nthree"))
	x.Expect(x.content(path, "line", 2)).To(Equal("two\nthree"))
	x.Expect(x.content(path, "line", 2, "limit", 1)).To(Equal("two\n"))
	x.Expect(x.content(path, "limit", 9)).To(Equal("one\ntwo\nthree"))
	x.Expect(x.content(path, "line", 9)).To(BeEmpty())
	x.Expect(x.ask("fs/read_text_file", object{"path": filepath.Join(dir, "none")}).Error.Code).To(Equal(codeNotFound))
	writeTestFile(t, path, "\xff\xfe")
	x.Expect(x.ask("fs/read_text_file", object{"path": path}).Error.Message).To(ContainSubstring("not a text"))
	x.Expect(x.ask("fs/read_text_file", object{"path": dir}).Error.Message).To(ContainSubstring("not a file"))
}

func TestFilesAreWritten(t *testing.T) {
	dir, extra := t.TempDir(), t.TempDir()
	c := &client{dir: dir, o: adapters.Options{Opening: op.Opening{ExtraDirs: []string{extra}}}}
	for _, path := range []string{filepath.Join(dir, "new", "folder", "a.txt"), filepath.Join(extra, "b.txt")} {
		g := NewWithT(t)
		g.Expect(writeFile(c.folders(), path, "long text")).To(Succeed())
		g.Expect(writeFile(c.folders(), path, "short")).To(Succeed())
		g.Expect(readFile(c.folders(), path)).To(Equal("short"))
	}
}

func TestFilesOutsideTheFoldersAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	dir, other := t.TempDir(), t.TempDir()
	secret := filepath.Join(other, "secret.txt")
	writeTestFile(t, secret, "secret")
	link := func(name, to string) string {
		path := filepath.Join(dir, name)
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	x := startAsker(t, Adapter{Files: true, Terminals: true}, adapters.Options{Opening: op.Opening{Dir: dir}})
	for _, path := range []string{
		secret, dir + "/../" + filepath.Base(other) + "/secret.txt", "a.txt", "",
		link("link", secret), filepath.Join(link("folder", other), "secret.txt"), filepath.Join(dir, "folder", "new.txt"),
		link("nowhere", filepath.Join(other, "made.txt")), dir + "x",
	} {
		a := x.ask("fs/read_text_file", object{"path": path})
		x.Expect(a.failed).To(BeTrue(), "read %q", path)
		a = x.ask("fs/write_text_file", object{"path": path, "content": "mine"})
		x.Expect(a.failed).To(BeTrue(), "write %q", path)
	}
	x.Expect(os.ReadFile(secret)).To(BeEquivalentTo("secret"))
	entries, err := os.ReadDir(other)
	x.Expect(err).NotTo(HaveOccurred())
	x.Expect(entries).To(HaveLen(1))
	inside := link("inside", filepath.Join(dir, "real.txt"))
	writeTestFile(t, filepath.Join(dir, "real.txt"), "fine")
	x.Expect(x.content(inside)).To(Equal("fine"), "a link within the folder leads nowhere else")
	x.Expect(x.ask("terminal/create", object{"command": "true", "cwd": other}).Error.Message).To(ContainSubstring("outside"))
}

func TestTheJudgeDecidesAboutFilesAndCommands(t *testing.T) {
	dir := t.TempDir()
	calls := make(chan adapters.Call, 9)
	judge := func(_ context.Context, c adapters.Call) adapters.Verdict {
		calls <- c
		return adapters.Verdict{Effect: adapters.EffectDeny, Reason: "not today"}
	}
	x := startAsker(t, Adapter{Files: true, Terminals: true}, adapters.Options{Opening: op.Opening{Dir: dir}, Judge: judge})
	path := filepath.Join(dir, "a.txt")
	x.Expect(x.ask("fs/write_text_file", object{"path": path, "content": "x"}).Error.Message).To(Equal("not today"))
	x.Expect(path).NotTo(BeAnExistingFile())
	x.Expect((<-calls).Tool).To(Equal("Write"))
	x.Expect(x.ask("fs/read_text_file", object{"path": path}).Error.Message).To(Equal("not today"))
	x.Expect((<-calls).Tool).To(Equal("Read"))
	x.Expect(x.ask("terminal/create", object{"command": "echo", "args": []string{"a b", "it's"}}).Error.Message).To(Equal("not today"))
	c := <-calls
	x.Expect(c.Tool).To(Equal("Bash"))
	x.Expect(string(c.Input)).To(Equal(`{"command":"echo 'a b' 'it'\\''s'"}`))
	env := []object{{"name": "PATH", "value": "/other bin"}}
	x.Expect(x.ask("terminal/create", object{"command": "A=1", "env": env}).Error.Message).To(Equal("not today"))
	x.Expect(string((<-calls).Input)).To(Equal(`{"command":"PATH='/other bin' 'A=1'"}`), "a variable may decide what runs")
	env[0]["name"] = "A;B"
	x.Expect(x.ask("terminal/create", object{"command": "true", "env": env}).Error.Message).To(ContainSubstring("not the name"))
}

func TestAStoppedTurnWritesNoFile(t *testing.T) {
	dir := t.TempDir()
	x := startAsker(t, Adapter{Files: true}, adapters.Options{Opening: op.Opening{Dir: dir}})
	stopped := make(chan error, 1)
	go func() { stopped <- x.s.Stop(t.Context()) }()
	x.Expect(<-stopped).To(Succeed())
	path := filepath.Join(dir, "late.txt")
	x.Expect(x.ask("fs/write_text_file", object{"path": path, "content": "x"}).Error.Message).To(ContainSubstring("turn has ended"))
	x.Expect(path).NotTo(BeAnExistingFile())
	x.Print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"cancelled"}}`, x.prompt))
}

func TestTailIsCutAtACharacter(t *testing.T) {
	g := NewWithT(t)
	o := outputTail{limit: 4}
	_, _ = o.Write([]byte("aäöü")) // never fails
	text, cut := o.text(true)
	g.Expect(text).To(Equal("öü"))
	g.Expect(cut).To(BeTrue())
	o = outputTail{limit: 3}
	_, _ = o.Write([]byte("xäö"))
	text, cut = o.text(true)
	g.Expect(text).To(Equal("ö"), "the limit is within a character")
	g.Expect(cut).To(BeTrue())
	o = outputTail{limit: 9}
	_, _ = o.Write([]byte("x€")[:3])
	text, cut = o.text(false)
	g.Expect(text).To(Equal("x"), "the rest of the character is yet to come")
	g.Expect(cut).To(BeFalse())
	_, _ = o.Write([]byte("€")[2:])
	g.Expect(o.text(false)).To(Equal("x€"))
	o = outputTail{limit: 4}
	_, _ = o.Write([]byte("\xff\xff\xff"))
	text, _ = o.text(true)
	g.Expect(len(text)).To(BeNumerically("<=", 4))
	g.Expect(strings.Trim(text, "\uFFFD")).To(BeEmpty())
}

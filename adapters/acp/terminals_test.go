//go:build unix

package acp

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/op"
)

// create runs a script of a shell in a terminal.
func (x *asker) create(script string, more ...any) string {
	x.t.Helper()
	p := object{"sessionId": "s1", "command": "/bin/sh", "args": []string{"-c", script}}
	for i := 0; i < len(more); i += 2 {
		p[more[i].(string)] = more[i+1]
	}
	a := x.ask("terminal/create", p)
	x.Expect(a.failed).To(BeFalse(), "%s", a.Error.Message)
	return lenient.Decode[struct {
		ID string `json:"terminalId"`
	}](a.Result).ID
}

func (x *asker) terminal(request, id string) string {
	x.t.Helper()
	a := x.ask("terminal/"+request, object{"sessionId": "s1", "terminalId": id})
	x.Expect(a.failed).To(BeFalse(), "%s", a.Error.Message)
	return string(a.Result)
}

func TestATerminalRunsACommand(t *testing.T) {
	dir := t.TempDir()
	x := startAsker(t, Adapter{Terminals: true}, adapters.Options{Opening: op.Opening{Dir: dir}})
	x.Expect(x.init).To(ContainSubstring(`"terminal":true`))
	id := x.create(`echo "$WORD"; pwd; echo error >&2; exit 3`, "env", []object{{"name": "WORD", "value": "hello"}})
	x.Expect(x.terminal("wait_for_exit", id)).To(Equal(`{"exitCode":3,"signal":null}`))
	out := x.terminal("output", id)
	x.Expect(out).To(ContainSubstring(`hello\n`))
	x.Expect(out).To(ContainSubstring(filepath.Base(dir)))
	x.Expect(out).To(ContainSubstring(`error\n`))
	x.Expect(out).To(ContainSubstring(`"truncated":false,"exitStatus":{"exitCode":3,"signal":null}`))
	x.Expect(x.terminal("release", id)).To(Equal(`{}`))
	x.Expect(x.ask("terminal/output", object{"terminalId": id}).Error.Code).To(Equal(codeNotFound))
}

func TestATerminalKeepsTheEndOfItsOutput(t *testing.T) {
	x := startAsker(t, Adapter{Terminals: true}, adapters.Options{Opening: op.Opening{Dir: t.TempDir()}})
	id := x.create(`printf 'aaaaä€end'`, "outputByteLimit", 5)
	x.terminal("wait_for_exit", id)
	x.Expect(x.terminal("output", id)).To(HavePrefix(`{"output":"end","truncated":true`), "the limit is within a character")
}

func TestATerminalIsKilledWithItsChildren(t *testing.T) {
	x := startAsker(t, Adapter{Terminals: true}, adapters.Options{Opening: op.Opening{Dir: t.TempDir()}})
	id := x.create(`echo begun; sleep 300 & sleep 300`)
	x.send("terminal/wait_for_exit", object{"terminalId": id})
	x.send("terminal/kill", object{"terminalId": id})
	var replies []string
	for range 2 {
		replies = append(replies, string(x.reply().Result))
	}
	x.Expect(replies).To(ConsistOf(`{}`, `{"exitCode":null,"signal":"SIGKILL"}`))
	x.Expect(x.terminal("output", id)).To(ContainSubstring(`"signal":"SIGKILL"`), "a killed terminal keeps its output until it is released")
}

func TestTerminalsEndWithTheSession(t *testing.T) {
	dir := t.TempDir()
	x := startAsker(t, Adapter{Terminals: true}, adapters.Options{Opening: op.Opening{Dir: dir}})
	x.create(`sleep 300 & echo $! > child.tmp; mv child.tmp child; wait`)
	var child int
	x.Eventually(func() error {
		b, err := os.ReadFile(filepath.Join(dir, "child"))
		child, _ = strconv.Atoi(strings.TrimSpace(string(b))) // it is complete when the file is there
		return err
	}, time.Minute).Should(Succeed())
	x.Expect(syscall.Kill(child, 0)).To(Succeed())
	x.Expect(x.s.Close(t.Context())).To(Succeed())
	x.Eventually(func() error { return syscall.Kill(child, 0) }, time.Minute).Should(MatchError(syscall.ESRCH))
}

func TestNoCommandIsAnError(t *testing.T) {
	x := startAsker(t, Adapter{Terminals: true}, adapters.Options{Opening: op.Opening{Dir: t.TempDir()}})
	x.Expect(x.ask("terminal/create", object{"command": "/no/such/program"}).Error.Code).To(Equal(codeNotFound))
	x.Expect(x.ask("terminal/wait_for_exit", object{"terminalId": "term_1"}).Error.Code).To(Equal(codeNotFound))
}

func TestACallShowsItsTerminal(t *testing.T) {
	x := startAsker(t, Adapter{Terminals: true}, adapters.Options{Opening: op.Opening{Dir: t.TempDir()}})
	id := x.create(`echo out; exit 2`)
	x.Print(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t1","title":"echo","kind":"execute",` +
		`"status":"in_progress","content":[{"type":"terminal","terminalId":"` + id + `"}]}}}`)
	x.terminal("wait_for_exit", id)
	x.terminal("release", id)
	x.Print(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"}}}`)
	for e := range x.events {
		if d, ok := e.Data.(event.ToolResult); ok {
			x.Expect(strings.TrimSpace(d.Output)).To(Equal("out"))
			x.Expect(d.ExitCode).To(HaveValue(Equal(2)))
			return
		}
	}
}

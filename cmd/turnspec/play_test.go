package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// A client that starts the stand-in as a program, under its own name or that of the
// runtime, gets the recorded conversation.
func TestPlayIsTheRuntime(t *testing.T) {
	for _, a := range []adapters.Adapter{codex.New(), claude.New()} {
		name := a.Capabilities().Runtime
		id := caseOf(t, name, "text/plain")
		t.Run(name+"/play", func(t *testing.T) {
			converse(t, a, []string{"turnspec", "play", name, "--case", "text/plain"}, os.Environ())
		})
		t.Run(name+"/by-name", func(t *testing.T) {
			converse(t, a, nil, append(os.Environ(), standin.EnvCase+"="+id))
		})
	}
}

func caseOf(t *testing.T, runtime, scenario string) string {
	t.Helper()
	c, err := oneCase(fixtures.Embedded(), runtime+"/*/"+scenario)
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

func converse(t *testing.T, a adapters.Adapter, command, env []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s, err := a.Open(ctx, adapters.Options{Opening: op.Opening{Command: command, Dir: t.TempDir(), Mode: "never"}, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	text := make(chan string, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var b strings.Builder
		for e := range s.Events() {
			switch d := e.Data.(type) {
			case event.Delta:
				b.WriteString(d.Text)
			case event.Done:
				text <- b.String()
			case event.Error:
				text <- "error: " + d.Message
			}
		}
	}()
	if err := s.Send(ctx, adapters.Message{ID: "m1", Text: "Name three rivers."}); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-text:
		if want := "The Danube, the Nile and the Mekong."; got != want {
			t.Errorf("text %q, want %q", got, want)
		}
	case <-ctx.Done():
		t.Error("the turn did not end")
	}
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	<-ended
}

// A stand-in process answers reads that the case lacks from the recorded read
// replies.
func TestPlayAnswersReads(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "turnspec", "play", "codex", "--case", "text/plain", "app-server")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	ask := func(request, id string) string {
		t.Helper()
		if _, err := io.WriteString(in, request+"\n"); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			if strings.Contains(lines.Text(), `"id":`+id) {
				return lines.Text()
			}
		}
		t.Fatalf("no reply to %s: %v", request, lines.Err())
		return ""
	}
	ask(`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"x","title":"X","version":"1"}}}`, "1")
	if got := ask(`{"id":2,"method":"model/list","params":{}}`, "2"); !strings.Contains(got, `"result":{"data":[`) {
		t.Errorf("got %.200s, want the recorded list of models", got)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

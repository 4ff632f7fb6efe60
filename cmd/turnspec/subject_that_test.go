package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// subjectThat runs as a subject with the defect that its argument names.
func subjectThat() {
	line := func(text string) { fmt.Println(text) }
	if dir := os.Getenv("PIDS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(os.Getpid())), nil, 0o600); err != nil {
			panic(err)
		}
	}
	switch os.Args[1] {
	case "exits-at-once":
		fmt.Fprintln(os.Stderr, "no licence")
		os.Exit(3)
	case "is-silent":
		fmt.Fprintln(os.Stderr, "still loading")
		time.Sleep(time.Hour)
	case "prints-garbage":
		line("Loading the model …")
	case "floods-stderr":
		// More than a pipe and the suite hold.
		if _, err := os.Stderr.WriteString(strings.Repeat(strings.Repeat("warning ", 1<<10)+"\n", 2<<10)); err != nil {
			return
		}
		time.Sleep(time.Hour)
	case "starts-nothing":
		replyToAll(nil)
	case "is-wrong":
		replyToAll(func(do string, open []string) {
			switch do {
			case "open":
				startRuntime(open)
			case "send":
				line(`{"event":{"type":"turn_start","turn":1,"data":{"cause":"user","message_ids":["m1"]}}}`)
				line(`{"event":{"type":"delta","turn":1,"data":{"text":"another text","message_id":"1","block_id":"1"}}}`)
				line(`{"event":{"type":"done","turn":1,"data":{}}}`)
				fmt.Fprintln(os.Stderr, "Exception in thread reader\x1b")
			}
		})
		os.Exit(5)
	case "exits-every-other-time":
		sessions, err := os.OpenFile(os.Getenv("SESSIONS"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			panic(err)
		}
		replyToAll(func(do string, open []string) {
			switch do {
			case "open":
				startRuntime(open)
			case "send":
				line(`{"event":{"type":"turn_start","turn":1,"data":{"cause":"user","message_ids":["m1"]}}}`)
				if _, err := sessions.WriteString("x"); err != nil {
					panic(err)
				}
				if info, err := sessions.Stat(); err != nil || info.Size()%2 == 0 {
					os.Exit(7)
				}
				line(`{"event":{"type":"delta","turn":1,"data":{"text":"another text","message_id":"1","block_id":"1"}}}`)
				line(`{"event":{"type":"done","turn":1,"data":{}}}`)
			}
		})
	case "refuses-everything":
		replyToEach(func(string, []string) string { return `,"error":{"code":"unsupported","message":"no"}` })
	case "never-ends-a-turn":
		replyToAll(func(do string, open []string) {
			switch do {
			case "open":
				startRuntime(open)
			case "send":
				line(`{"event":{"type":"turn_start","turn":1,"data":{"cause":"user","message_ids":["m1"]}}}`)
			}
		})
	case "never-stops":
		signal.Ignore(syscall.SIGTERM, os.Interrupt)
		replyToAll(func(do string, open []string) {
			switch do {
			case "open":
				startRuntime(open)
			case "send":
				line(`{"event":{"type":"turn_start","turn":1,"data":{"cause":"user","message_ids":["m1"]}}}`)
				go func() {
					for {
						line(`{"event":{"type":"delta","turn":1,"data":{"text":"x","message_id":"1","block_id":"1"}}}`)
					}
				}()
			}
		})
	case "repeats-megabytes":
		replyToAll(func(do string, open []string) {
			switch do {
			case "open":
				startRuntime(open)
			case "send":
				line(`{"event":{"type":"turn_start","turn":1,"data":{"cause":"user","message_ids":["m1"]}}}`)
				for range 1 << 10 {
					line(`{"event":{"type":"delta","turn":1,"data":{"text":"` + strings.Repeat("x", 1<<20) + `","message_id":"1","block_id":"1"}}}`)
				}
			}
		})
	case "never-ends-a-line":
		replyToAll(func(do string, open []string) {
			switch do {
			case "open":
				startRuntime(open)
			case "send":
				line(`{"event":{"type":"turn_start","turn":1,"data":{"cause":"user","message_ids":["m1"]}}}`)
				fmt.Print(`{"event":{"type":"delta","turn":1,"data":{"text":"`)
				for {
					fmt.Print(strings.Repeat("x", 1<<20))
				}
			}
		})
	case "exits-in-mid-turn":
		replyToAll(func(do string, open []string) {
			switch do {
			case "open":
				startRuntime(open)
			case "send":
				line(`{"event":{"type":"turn_start","turn":1,"data":{"cause":"user","message_ids":["m1"]}}}`)
				crash()
			}
		})
	case "exits-in-mid-prompt":
		replyToPrompts()
	case "answers-garbage", "exits-in-mid-stream":
		serveSessions(os.Args[1] == "answers-garbage")
	}
}

// crash exits as an interpreter does after an exception.
func crash() {
	fmt.Fprintln(os.Stderr, "Traceback (most recent call last):\nKeyError: turn")
	os.Exit(7)
}

// startRuntime launches the runtime and reports that it is ready.
func startRuntime(command []string) {
	launchRuntime(command)
	fmt.Println(`{"event":{"type":"session_ready","data":{"session_id":"s1","runtime":"claude"}}}`)
}

// launchRuntime starts the runtime and writes one message to it.
func launchRuntime(command []string) {
	runtime := exec.Command(command[0], strings.Fields("-p --verbose --input-format stream-json --output-format stream-json --permission-prompt-tool stdio --include-partial-messages")...)
	in, err := runtime.StdinPipe()
	if err == nil {
		err = runtime.Start()
	}
	if err == nil {
		_, err = io.WriteString(in, `{"type":"user","message":{"role":"user","content":"Name three rivers."}}`+"\n")
	}
	if err != nil {
		panic(err)
	}
}

// replyToAll says hello and replies to each command. It calls do before a reply, with
// the command of the runtime if the command is open.
func replyToAll(do func(name string, command []string)) {
	replyToEach(func(name string, command []string) string {
		if do != nil {
			do(name, command)
		}
		return ""
	})
}

// replyToEach is replyToAll with further members of a reply, which do returns.
func replyToEach(do func(name string, command []string) string) {
	fmt.Println(`{"hello":{"protocol":1,"can":[]}}`)
	for in := bufio.NewReader(os.Stdin); ; {
		b, err := in.ReadBytes('\n')
		if err != nil {
			if err != io.EOF {
				panic(err)
			}
			return
		}
		var c struct {
			ID      int
			Do      string
			Command []string
		}
		if err := json.Unmarshal(b, &c); err != nil {
			panic(err)
		}
		more := do(c.Do, c.Command)
		fmt.Printf("{\"reply\":{\"id\":%d%s}}\n", c.ID, more)
	}
}

// replyToPrompts is an ACP agent that exits in its first prompt.
func replyToPrompts() {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var c struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			panic(err)
		}
		result := `{"protocolVersion":1}`
		switch c.Method {
		case "session/new":
			launchRuntime([]string{"claude"})
			result = `{"sessionId":"s1","modes":{"currentModeId":"default","availableModes":[{"id":"default","name":"Ask"},{"id":"bypassPermissions","name":"Never"}]}}`
		case "session/prompt":
			crash()
		}
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", c.ID, result)
	}
}

// serveSessions is a server that answers a session with a page, or exits when a message
// arrives.
func serveSessions(garbage bool) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"runtime":"claude","can":[]}`)
	})
	mux.HandleFunc("POST /sessions", func(w http.ResponseWriter, _ *http.Request) {
		if garbage {
			fmt.Fprint(w, "<html>Welcome</html>")
			return
		}
		launchRuntime([]string{"claude"})
		fmt.Fprint(w, `{"id":"s1"}`)
	})
	mux.HandleFunc("GET /sessions/{id}/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: session_ready\ndata: {\"type\":\"session_ready\",\"data\":{\"provider_session_id\":\"p1\"}}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("POST /sessions/{id}/message", func(http.ResponseWriter, *http.Request) { crash() })
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), mux))
}

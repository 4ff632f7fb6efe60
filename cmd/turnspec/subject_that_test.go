package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// subjectThat runs as a subject with the defect that its argument names.
func subjectThat() {
	line := func(text string) { fmt.Println(text) }
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
		for text := strings.Repeat("warning ", 1<<10) + "\n"; ; {
			if _, err := os.Stderr.WriteString(text); err != nil {
				return
			}
		}
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
	case "exits-in-mid-turn":
		replyToAll(func(do string, open []string) {
			switch do {
			case "open":
				startRuntime(open)
			case "send":
				line(`{"event":{"type":"turn_start","turn":1,"data":{"cause":"user","message_ids":["m1"]}}}`)
				fmt.Fprintln(os.Stderr, "Traceback (most recent call last):\nKeyError: turn")
				os.Exit(7)
			}
		})
	}
}

// startRuntime starts the runtime, writes one message to it, and reports that it is
// ready.
func startRuntime(command []string) {
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
	fmt.Println(`{"event":{"type":"session_ready","data":{"session_id":"s1","runtime":"claude"}}}`)
}

// replyToAll says hello and replies to each command. It calls do before a reply, with
// the command of the runtime if the command is open.
func replyToAll(do func(name string, command []string)) {
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
		if do != nil {
			do(c.Do, c.Command)
		}
		fmt.Printf("{\"reply\":{\"id\":%d}}\n", c.ID)
	}
}

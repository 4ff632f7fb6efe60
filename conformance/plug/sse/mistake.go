package sse

import (
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/conformance/plug/jsonl"
)

const page = "conformance/plug/sse/ROUTES.md"

func notStarted(argv []string, err error) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("the sidecar %q could not be started: %v", strings.Join(argv, " "), err),
		Do:   "run it by hand in this folder; a program that is not in PATH needs its path, and a script its interpreter",
	}
}

func badURL(url, why string) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("%q is no address of a sidecar: %s", url, why),
		Do:   "give one such as http://127.0.0.1:3000, or http://127.0.0.1:0 with a command after --: then it gets a free port in PORT",
	}
}

func taken(address string) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("something listens at %s already", address),
		Do:   "end it: the sidecar is to be started here; or give port 0, so that it gets a free one in PORT",
	}
}

func notReachable(url string, err error) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("nobody answers at %s: %v", url, err),
		Do: "start the sidecar first, in a shell where `eval \"$(turnspec env)\"` was said, so that it finds the stand-in; " +
			"or let it be started here: --http http://127.0.0.1:0 -- CMD",
	}
}

func notListening(url string, limit fmt.Stringer) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("the sidecar was started, and nobody answers at %s within %v", url, limit),
		Do:   "let it listen there: the port is in PORT, and stands for {port} in the command",
	}
}

func noRoute(method, path, answer string) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("%s %s: there is no such route: %s", method, path, answer),
		Do:   page + " lists the routes; behind a prefix, give it with the address: --http http://127.0.0.1:3000/api",
	}
}

func noSession(path, id string) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("GET %s: the sidecar knows no session %q, which it was told to create", path, id),
		Do:   `keep the session_id of POST /sessions as its id, or answer it with the one that it got: {"id":"…"}`,
	}
}

func badAnswer(method, path, answer string) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("%s %s: the answer is no JSON object: %s", method, path, answer),
		Do:   `answer {"ok":true}, or nothing; ` + page + " says what may stand in it",
	}
}

func noAnswer(method, path string, why fmt.Stringer) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("%s %s: no answer within %v", method, path, why),
		Do:   "answer at once, with 202 where the work goes on: what comes of it is told by events",
	}
}

func lostAnswer(method, path string, err error) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("%s %s: no answer: %v", method, path, err),
		Do:   "look at the sidecar's log: it may have ended, or a handler of it has",
	}
}

func notStream(path, got string) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("GET %s: want a stream of events (text/event-stream), got %s", path, got),
		Do:   "answer 200 with Content-Type: text/event-stream, flush the headers at once, and keep the response open",
	}
}

func badEvent(n int, text string, err error) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("event %d of the stream is not right: %v: %s", n, err, clip(text)),
		Do:   "one line data: with the event as JSON, then an empty line; adapters/event/schema.json describes each event, " + page + " the plain form",
	}
}

func undeclared(n int, typ string) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("event %d of the stream is %s, which GET /health does not declare", n, typ),
		Do:   `answer GET /health with {"events":[…]}, all the types that it sends; with turn_start among them it tells of turns itself`,
	}
}

func streamEnded(doing string, err error) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("the stream of events ended (%v) while %s", err, doing),
		Do:   "keep it open until the session is deleted; a comment such as `: heartbeat` every 15 s keeps proxies from cutting it",
	}
}

func ended(how, doing string) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("the sidecar ended (%s) while %s", how, doing),
		Do:   "it runs until it is sent SIGTERM; what it said tells why it ended, if it said anything",
	}
}

func stays(limit fmt.Stringer) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("the sidecar still ran %v after it was sent SIGTERM", limit),
		Do:   "end on SIGTERM, and end the runtimes before",
	}
}

func noEnd(limit fmt.Stringer) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("DELETE was answered, and neither session_end nor the end of the stream came within %v", limit),
		Do:   "tell session_end when the runtime has ended, then end the stream; or leave session_end out of the events in /health",
	}
}

func badHealth(format string, a ...any) *jsonl.PlugError {
	return &jsonl.PlugError{What: "GET /health: " + fmt.Sprintf(format, a...), Do: page + " lists what it may declare"}
}

func clip(s string) string {
	const most = 200
	s = strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD")
	if len(s) > most {
		s = s[:most] + "…"
	}
	return s
}

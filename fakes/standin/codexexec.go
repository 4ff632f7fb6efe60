package standin

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// codexExecDialect is the wire of `codex exec --json`: the message is all of
// stdin, or stands in the arguments; each process is a turn; a stop is a signal.
type codexExecDialect struct{}

func (codexExecDialect) act(all []byte) act {
	return act{kind: KindSend, text: string(bytes.TrimSpace(all))}
}

func (codexExecDialect) same(rec, sub *act, _ func(string) string) bool {
	return rec.kind == sub.kind && rec.text == sub.text
}

// message is what a launch of `codex exec` says to the model, and the thread
// that it resumes. stdin is read when no message stands in the arguments, or "-".
func (codexExecDialect) message(argv []string) (text, thread string) {
	var words []string
	for i := 1; i < len(argv); i++ {
		switch a := argv[i]; {
		case slices.Contains(execValues, a):
			i++
		case a == "-" || !strings.HasPrefix(a, "-"):
			words = append(words, a)
		}
	}
	if len(words) > 0 && (words[0] == "exec" || words[0] == "e") {
		words = words[1:]
	}
	if len(words) > 0 && words[0] == "resume" {
		words = words[1:]
		if len(words) > 0 && !slices.Contains(argv, "--last") {
			thread, words = words[0], words[1:]
		}
	}
	if len(words) > 0 && words[0] != "-" {
		text = words[0]
	}
	return text, thread
}

// execValues are the options that take the next argument.
var execValues = []string{
	"-c", "--config", "-m", "--model", "-s", "--sandbox", "-C", "--cd", "--add-dir", "--output-schema", "-o", "--output-last-message",
	"-i", "--image", "-p", "--profile", "--color", "--enable", "--disable", "--local-provider", "--thread-source", "--cyber-access-program",
}

// started: a client says the folder by an option, or by where it starts the
// runtime.
func (codexExecDialect) started(argv, _ []string) settings {
	for i, a := range argv[1:] {
		if dir, ok := strings.CutPrefix(a, "--cd="); ok {
			return settings{dir: dir}
		}
		if (argv[i] == "--cd" || argv[i] == "-C") && i > 0 {
			return settings{dir: a}
		}
	}
	return settings{}
}

func (codexExecDialect) said([]byte) said                    { return said{} }
func (codexExecDialect) misfit(string, []byte) string        { return "" }
func (codexExecDialect) idMember() []string                  { return nil }
func (codexExecDialect) refuse(*act, string) []byte          { return nil }
func (codexExecDialect) result(*act, jsontext.Value) []byte  { return nil }
func (codexExecDialect) fail(*act, jsontext.Value) []byte    { return nil }
func (codexExecDialect) setting(jsontext.Value) string       { return "" }
func (codexExecDialect) extras(*said) []string               { return nil }
func (codexExecDialect) gets(string, []string, *launch) bool { return true }
func (codexExecDialect) mode([]string) string                { return "" }
func (codexExecDialect) modeMember([]byte) (span, bool)      { return span{}, false }
func (codexExecDialect) version(v string) string             { return codexDialect{}.version(v) }
func (codexExecDialect) mustInitialize() bool                { return false }
func (codexExecDialect) closesAtOnce() bool                  { return false }
func (codexExecDialect) wants(*said, *launch) bool           { return true }
func (codexExecDialect) onSignal(s string) (int, bool)       { return 1, s != "SIGINT" }
func (codexExecDialect) waitsFor(signal string) bool {
	return signal == "SIGTERM" || signal == "SIGINT"
}
func (d codexExecDialect) input(l *launch, stdin []byte) (all []byte, ok bool) {
	text, _ := d.message(l.argv)
	if text == "" {
		return stdin, true
	}
	return []byte(text), true
}

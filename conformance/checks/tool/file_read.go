package tool

import (
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// FileRead is the check tool.file-read.
var FileRead = &conformance.Check{
	ID: "tool.file-read", Source: "wire/codex: commandActions", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"tool_start.is_file_read"},
	Needs:    []string{"tool_start.is_file_read"},
	Mend:     "Set is_file_read by the tool's canonical name, or by what the runtime says about a command. Do not set it for a command that may write.",
	Sentence: "A call that only reads a file is marked as a file read, and a call that writes or runs something is not. A command is marked as the runtime states; if it states nothing, a command may be marked if it only reads.",
	Judge:    judgeFileRead,
}

func judgeFileRead(t *conformance.Trial, f *conformance.Finding) {
	for _, call := range runindex.Calls(t.Run) {
		if call.Hidden {
			continue
		}
		for _, e := range runindex.Of(t.Run).Starts(call) {
			d, _ := e.Data.(event.ToolStart)
			stated := statedReading(t.Run, d.ToolUseID)
			hidden := runindex.RecordedTool(t.Run, func(t wire.Tool) bool { return t.Reads == wire.NotStated })
			var in runindex.Input
			_ = json.Unmarshal(call.Input, &in) // only a command has the member
			switch {
			case (call.Tool == "shell" || d.Tool == "Bash") && stated != "" && !hidden:
				f.Asserted(1)
				if stated == wire.ReadsFiles && !d.IsFileRead || stated == wire.DoesMore && d.IsFileRead {
					f.At(e, "%s %s: is_file_read is %v, but the runtime reports that the command %s", d.Tool, call.ID, d.IsFileRead, stated)
				}
			case call.Tool == "shell" && d.IsFileRead:
				f.Asserted(1)
				if word := writes(in.Command); word != "" {
					f.At(e, "%s %s is marked as a file read, but %q does more than read: %q", d.Tool, call.ID, runindex.Clip(in.Command), word)
				}
			case d.Tool == "Bash" && hidden:
			case call.Tool == "read" || d.Tool == "Read":
				f.Asserted(1)
				if !d.IsFileRead {
					f.At(e, "%s %s reads a file, but is not marked as a file read", d.Tool, call.ID)
				}
			case call.Tool == "write" || call.Tool == "edit":
				f.Asserted(1)
				if d.IsFileRead {
					f.At(e, "%s %s writes a file, but is marked as a file read", d.Tool, call.ID)
				}
			}
		}
	}
}

// statedReading returns what the wire states about a command.
func statedReading(r *conformance.Run, id string) wire.Reading {
	for _, l := range runindex.Of(r).Lines() {
		if l.Asked != nil && l.Asked.Reads != "" && l.Asked.Tool == r.Recorded(id) {
			return l.Asked.Reads
		}
		for _, tool := range l.Tools {
			if tool.Reads != "" && (tool.ID == id || tool.ID == r.Recorded(id)) {
				return tool.Reads
			}
		}
	}
	return ""
}

var (
	harmlessRedirection = regexp.MustCompile(`\d?>(/dev/null|&\d)`)
	quotedText          = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	commandEnd          = regexp.MustCompile(`&&|\|\||[|;&\n]`)
)

// doesMore lists the options with which a program that reads does something else.
var doesMore = []string{"-delete", "-exec", "-execdir", "-ok", "-o", "-i", "--in-place", "--output"}

// printsItself lists programs that print text which is not in a file, or run others.
var printsItself = []string{"echo", "printf", "sleep", "exit", "true", "false", "touch", "mkdir", "rm", "mv", "cp", "tee", "git", "wait", "kill", "trap", "exec", "env", "xargs", "python3", "node"}

// writes returns the word of a command by which it does more than read files, or "".
func writes(command string) string {
	if strings.Count(command, "'")%2 == 1 {
		return "'"
	}
	plain := harmlessRedirection.ReplaceAllString(quotedText.ReplaceAllString(command, "Q"), "")
	for _, sign := range []string{">", "$", "`"} {
		if strings.Contains(plain, sign) {
			return sign
		}
	}
	for _, simple := range commandEnd.Split(plain, -1) {
		words := strings.Fields(simple)
		if len(words) == 0 {
			continue
		}
		if slices.Contains(printsItself, words[0]) {
			return words[0]
		}
		for _, w := range words[1:] {
			if slices.Contains(doesMore, w) && words[0] != "grep" && words[0] != "ls" {
				return w
			}
		}
		if words[0] == "uniq" && len(words) > 2 && !strings.HasPrefix(words[len(words)-2], "-") {
			return words[len(words)-1]
		}
	}
	return ""
}

package policy

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
)

// class is what a tool does, as far as presets and modes care.
type class int

const (
	classNone  class = iota // nobody knows the tool
	classRead               // reads files
	classEdit               // changes a file that is there
	classWrite              // makes, overwrites or removes files
	classShell              // runs a command
	classWeb                // fetches or searches the web
	classAgent              // starts, tells or ends a sub-agent; its own calls are judged as any
	classTalk               // talks to the user or keeps the agent's own lists: touches nothing
)

// tool is what there is to know of a tool.
type tool struct {
	class class
	paths []string // the members of its input that are paths
	needs string   // the member that must be there
}

// known are the tools by their canonical names.
var known = map[string]tool{
	"Read":         {class: classRead, paths: []string{"file_path"}, needs: "file_path"},
	"NotebookRead": {class: classRead, paths: []string{"notebook_path"}, needs: "notebook_path"},
	"Glob":         {class: classRead, paths: []string{"path", "pattern"}},
	"Grep":         {class: classRead, paths: []string{"path"}},
	"LS":           {class: classRead, paths: []string{"path"}},
	"Edit":         {class: classEdit, paths: []string{"file_path"}},
	"MultiEdit":    {class: classEdit, paths: []string{"file_path"}, needs: "file_path"},
	"NotebookEdit": {class: classEdit, paths: []string{"notebook_path"}, needs: "notebook_path"},
	"Write":        {class: classWrite, paths: []string{"file_path"}},
	"Bash":         {class: classShell},
	"WebSearch":    {class: classWeb},
	"WebFetch":     {class: classWeb, needs: "url"},

	"Task": {class: classAgent}, "Agent": {class: classAgent}, "SendMessage": {class: classAgent},
	"sendInput": {class: classAgent}, "resumeAgent": {class: classAgent}, "closeAgent": {class: classAgent},
	"wait": {class: classAgent}, "interacted": {class: classAgent}, "interrupted": {class: classAgent},

	"TodoWrite": {class: classTalk}, "TodoRead": {class: classTalk}, "TaskCreate": {class: classTalk}, "TaskUpdate": {class: classTalk},
	"TaskList": {class: classTalk}, "TaskGet": {class: classTalk}, "TaskOutput": {class: classTalk}, "TaskStop": {class: classTalk},
	"BashOutput": {class: classTalk}, "KillShell": {class: classTalk}, "KillBash": {class: classTalk},
	"AskUserQuestion": {class: classTalk}, "EnterPlanMode": {class: classTalk}, "ExitPlanMode": {class: classTalk},
	"StructuredOutput": {class: classTalk}, "ToolSearch": {class: classTalk}, "Sleep": {class: classTalk},
}

// inPreset reports whether a preset has the tools of a class. Tools that only
// talk are in each: without them an agent could not ask or answer.
func inPreset(p Preset, c class) bool {
	switch p {
	case NoBash:
		return c != classShell
	case ReadOnly:
		return c == classRead || c == classWeb || c == classTalk
	case SafeEdit:
		return c == classRead || c == classWeb || c == classTalk || c == classEdit
	}
	return true
}

// tool judges a call.
func (j *judgement) tool(n *Node, c adapters.Call) {
	t := known[c.Tool]
	if !inPreset(j.preset(), t.class) && (t.class != classNone || !j.mcp(c.Tool)) {
		n.deny("the preset " + string(j.preset()) + " has no such tool")
		return
	}
	allowed := j.toolRules(n, c.Tool)
	in, err := members(c.Input)
	if err != nil {
		n.deny("the input cannot be read: " + err.Error())
		return
	}
	if t.needs != "" && in[t.needs] == nil {
		n.deny("the input has no " + t.needs)
		return
	}
	switch t.class {
	case classTalk:
		n.allow("it touches nothing")
	case classRead:
		j.files(n, reads, t, in)
	case classEdit, classWrite:
		j.write(n, c.Tool, t, in)
	case classShell:
		j.bash(n, in, allowed)
	case classWeb, classAgent:
		if t.class == classWeb {
			allowed = j.web(n, c.Tool, in) || allowed
		} else {
			allowed = j.agent(n, in) || allowed
		}
		switch {
		case allowed:
			n.allow("a rule allows it")
		case j.mode() == Planner:
			j.unknown(n, "a planner has it only by a rule")
		default:
			n.allow("mode implementation has it")
		}
	default:
		switch {
		case allowed:
			n.allow("a rule allows it")
		case j.mcp(c.Tool):
			n.allow("the tool is listed")
		case strings.HasPrefix(c.Tool, "mcp__"):
			j.unknown(n, "an MCP tool that is not listed")
		default:
			j.unknown(n, "nobody knows the tool")
		}
	}
}

// members reads an input. Duplicate members are an error: two readers could take
// different ones.
func members(raw jsontext.Value) (map[string]jsontext.Value, error) {
	out := map[string]jsontext.Value{}
	if len(raw) == 0 || raw.Kind() == 'n' {
		return out, nil
	}
	err := json.Unmarshal(raw, &out)
	for k, v := range out {
		if v.Kind() == 'n' {
			delete(out, k)
		}
	}
	return out, err
}

// str is a member that must be a string, if it is there.
func str(n *Node, in map[string]jsontext.Value, name string) (s string, ok bool) {
	v := in[name]
	if v == nil {
		return "", false
	}
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		n.deny("the input's " + name + " is no string")
		return "", false
	}
	return s, true
}

// folders are those in which the call may run.
func (j *judgement) folders() []string {
	if filepath.IsAbs(j.dir) {
		return []string{j.dir}
	}
	return nil
}

// files judges the paths of a tool's input.
func (j *judgement) files(n *Node, a access, t tool, in map[string]jsontext.Value) {
	rule := "Read"
	if a == writes {
		rule = "Write"
	}
	some := false
	for _, m := range t.paths {
		s, ok := str(n, in, m)
		if !ok {
			continue
		}
		if m == "pattern" { // of Glob: the folder before the pattern, if it leads somewhere else
			dir := globDir(s)
			if dir == "" {
				continue
			}
			s = dir
		}
		some = true
		full, ok := j.home(s)
		if !ok {
			j.placeless(n.part(a.what(), s), a, rule, "nobody knows that home")
			continue
		}
		j.path(n, a, rule, full, j.folders())
	}
	if !some && a == reads {
		j.path(n, a, rule, ".", j.folders())
	}
}

// globDir is the part of a pattern before its first special character, up to the
// last slash, if that may lead out of the folder where the search begins.
func globDir(s string) string {
	if !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "~") && !strings.Contains(s, "..") {
		return ""
	}
	if i := strings.IndexAny(s, "*?[{"); i >= 0 {
		if strings.Contains(s[i:], "..") {
			return "/" // it may climb to anywhere
		}
		s = s[:i]
	}
	return path.Dir(s + "x")
}

// change is one of the files of a patch.
type change struct {
	Path string         `json:"path"`
	Kind jsontext.Value `json:"kind"`
}

type changeKind struct {
	Type     string `json:"type"`
	MovePath string `json:"move_path"`
}

// write judges a tool that writes. A change that is more than an edit is a Write,
// whatever the tool is called.
func (j *judgement) write(n *Node, name string, t tool, in map[string]jsontext.Value) {
	makes := t.class == classWrite
	if old, ok := str(n, in, "old_string"); ok && old == "" && name == "Edit" {
		makes = true // that is how Edit makes a file
	}
	j.files(n, writes, t, in)
	if v := in["changes"]; v != nil {
		makes = j.patch(n, v) || makes
	}
	switch {
	case makes && !inPreset(j.preset(), classWrite):
		n.deny("the preset " + string(j.preset()) + " makes, moves and removes no files")
	case j.mode() == Planner:
		n.deny("a planner does not write")
	case len(n.Parts) == 0:
		n.deny("the input names no file")
	default:
		n.allow("mode implementation has it")
	}
}

// patch judges the files of a patch, and reports whether it does more than edit.
func (j *judgement) patch(n *Node, v jsontext.Value) (makes bool) {
	var all []change
	if err := json.Unmarshal(v, &all); err != nil {
		n.deny("the input's changes cannot be read: " + err.Error())
	}
	for _, c := range all {
		k := changeKind{}
		if json.Unmarshal(c.Kind, &k.Type) != nil && json.Unmarshal(c.Kind, &k) != nil {
			n.deny("the kind of a change cannot be read")
		}
		makes = makes || k.Type != "update" || k.MovePath != ""
		for _, p := range []string{c.Path, k.MovePath} {
			if p != "" {
				j.path(n, writes, "Write", p, j.folders())
			}
		}
	}
	return makes
}

// web judges the host of a fetch by the rules.
func (j *judgement) web(n *Node, name string, in map[string]jsontext.Value) bool {
	if name != "WebFetch" {
		return false
	}
	s, ok := str(n, in, "url")
	if !ok {
		return false
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		n.deny("want a http or https URL with a host")
		return false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if strings.Contains("."+host, "..") {
		n.deny("the host has an empty label")
		return false
	}
	return j.apply(n, func(r Rule, _ bool) (bool, bool) {
		if r.tool != name || r.bare {
			return false, false
		}
		ok, _ := path.Match(r.glob, host)
		return false, ok
	})
}

// agent judges the type of a sub-agent by the rules.
func (j *judgement) agent(n *Node, in map[string]jsontext.Value) bool {
	kind, ok := str(n, in, "subagent_type")
	if !ok {
		kind, _ = str(n, in, "agent")
	}
	return j.apply(n, func(r Rule, _ bool) (bool, bool) {
		if !same(r.tool, "Task") || r.bare {
			return false, false
		}
		ok, _ := path.Match(r.glob, kind)
		return false, ok && kind != ""
	})
}

// mcp reports whether an MCP tool is listed.
func (p *Policy) mcp(name string) bool {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return false
	}
	for _, m := range p.MCP {
		server, tool, one := strings.Cut(m, "/")
		switch {
		case m == "*":
			return true
		case one && rest == server+"__"+tool:
			return true
		case !one:
			// A server's name may hold __, too: then it is another server.
			if t, ok := strings.CutPrefix(rest, server+"__"); ok && t != "" && !strings.Contains(t, "__") {
				return true
			}
		}
	}
	return false
}

func validMCP(m string) bool {
	server, tool, one := strings.Cut(m, "/")
	if m == "*" {
		return true
	}
	return server != "" && (!one || tool != "") && !strings.ContainsAny(m, "*? \t")
}

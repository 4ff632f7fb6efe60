package policy

import (
	"cmp"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
)

// class is the class of a tool, for presets and modes.
type class int

const (
	classNone  class = iota // unknown tool
	classRead               // reads files
	classEdit               // changes an existing file
	classWrite              // creates, overwrites or removes files
	classShell              // runs a command
	classWeb                // fetches or searches the web
	classAgent              // starts, messages or ends a sub-agent, whose own calls are judged too
	classTalk               // asks the user or keeps the agent's own lists
)

// tool describes a tool.
type tool struct {
	class class
	paths []string // the members of its input that are paths
	needs string   // a required member
}

// knownTools are the tools by their canonical names.
var knownTools = map[string]tool{
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

// inPreset reports whether a preset has the tools of a class. The class classTalk is in
// each preset, because without it an agent could not ask or answer.
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

// judgeTool judges a call.
func (j *judgement) judgeTool(n *Node, c adapters.Call) {
	t := knownTools[c.Tool]
	if !inPreset(j.presetOrDefault(), t.class) && (t.class != classNone || !j.listsMCPTool(c.Tool)) {
		n.deny("the preset " + string(j.presetOrDefault()) + " has no such tool")
		return
	}
	allowed := j.applyToolRules(n, c.Tool)
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
		j.judgeFiles(n, reads, t, in)
		if c.Tool == "Grep" {
			j.judgeSearch(n, in)
		}
	case classEdit, classWrite:
		j.judgeWrite(n, c.Tool, t, in)
	case classShell:
		j.judgeBash(n, in, allowed)
	case classWeb, classAgent:
		if t.class == classWeb {
			allowed = j.judgeWebFetch(n, c.Tool, in) || allowed
		} else {
			allowed = j.judgeAgent(n, in) || allowed
		}
		switch {
		case allowed:
			n.allow("a rule allows it")
		case j.modeOrDefault() == Planner:
			j.setUnknown(n, "a planner needs a rule for it")
		default:
			n.allow("mode implementation allows it")
		}
	default:
		switch {
		case allowed:
			n.allow("a rule allows it")
		case j.listsMCPTool(c.Tool):
			n.allow("the tool is listed")
		case strings.HasPrefix(c.Tool, "mcp__"):
			j.setUnknown(n, "an MCP tool that is not listed")
		default:
			j.setUnknown(n, "unknown tool")
		}
	}
}

// members decodes an input. Duplicate members are an error, because two readers could
// use different ones.
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

// stringMember returns a member, which must be a string if it is present.
func stringMember(n *Node, in map[string]jsontext.Value, name string) (s string, ok bool) {
	v := in[name]
	if v == nil {
		return "", false
	}
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		n.deny("the input's " + name + " is not a string")
		return "", false
	}
	return s, true
}

// callDirs returns the folders in which the call may run.
func (j *judgement) callDirs() []string {
	if filepath.IsAbs(j.dir) {
		return []string{j.dir}
	}
	return nil
}

// judgeFiles judges the paths in a tool's input.
func (j *judgement) judgeFiles(n *Node, a access, t tool, in map[string]jsontext.Value) {
	some := false
	for _, m := range t.paths {
		s, ok := stringMember(n, in, m)
		if !ok {
			continue
		}
		if m == "pattern" { // of Glob: the folder of the pattern, if it is outside of the search folder
			dir := globDir(s)
			if dir == "" {
				continue
			}
			s = dir
		}
		some = true
		full, ok := j.expandHome(s)
		switch {
		case strings.HasPrefix(s, "@") || strings.HasPrefix(s, "file:") || strings.ContainsFunc(s, isOtherSpace):
			j.judgeUnknownPath(n.addPart(a.what(), s), a, "a runtime may read it as another path")
			continue
		case !ok:
			j.judgeUnknownPath(n.addPart(a.what(), s), a, "the home folder is unknown")
			continue
		}
		j.judgePath(n, a, full, j.callDirs())
	}
	if !some && a == reads {
		j.judgePath(n, a, ".", j.callDirs())
	}
}

// isOtherSpace reports whether a rune is a space that Pi replaces with a plain one.
func isOtherSpace(r rune) bool { return r != ' ' && unicode.Is(unicode.Zs, r) }

// judgeSearch applies the Read rules to the files below the folder of a search that prints
// lines. Names that the input's patterns cannot have are left out.
func (j *judgement) judgeSearch(n *Node, in map[string]jsontext.Value) {
	mode, _ := stringMember(n, in, "output_mode")
	if !j.hasReadRules() || mode == "files_with_matches" || mode == "count" {
		return
	}
	for _, name := range []string{"glob", "include"} {
		s, _ := stringMember(n, in, name)
		for _, pattern := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' }) {
			if strings.HasPrefix(pattern, "!") {
				pattern = "*"
			}
			j.searched = append(j.searched, tailOf(pattern))
		}
	}
	dir, _ := stringMember(n, in, "path")
	if full, ok := j.expandHome(cmp.Or(dir, ".")); ok {
		for _, d := range joinDirs(j.callDirs(), full) {
			j.judgeTree(n, d, true, false)
		}
	}
}

// hiddenClimb matches what may climb to anywhere: .. behind a special character, and alternatives
// and brackets that may make it, or a slash at the begin.
var hiddenClimb = regexp.MustCompile(`[*?[{].*\.\.|[{,(|][/~},)|]|\.[]},)|]`)

// globDir returns the folder of a pattern, up to the last slash before its first special
// character, if it may be outside of the folder of the search.
func globDir(s string) string {
	if hiddenClimb.MatchString(s) {
		return "/"
	}
	if !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "~") && !strings.Contains(s, "..") {
		return ""
	}
	if i := strings.IndexAny(s, "*?[{"); i >= 0 {
		s = s[:i]
	}
	return path.Dir(s + "x")
}

// change is one file of a patch.
type change struct {
	Path string         `json:"path"`
	Kind jsontext.Value `json:"kind"`
}

type changeKind struct {
	Type     string `json:"type"`
	MovePath string `json:"move_path"`
}

// judgeWrite judges a tool that writes. A change that is more than an edit counts as
// Write, whatever the name of the tool.
func (j *judgement) judgeWrite(n *Node, name string, t tool, in map[string]jsontext.Value) {
	makes := t.class == classWrite
	if old, ok := stringMember(n, in, "old_string"); ok && old == "" && name == "Edit" {
		makes = true // Edit creates a file in this way
	}
	j.judgeFiles(n, writes, t, in)
	if v := in["changes"]; v != nil {
		makes = j.judgePatch(n, v) || makes
	}
	switch {
	case makes && !inPreset(j.presetOrDefault(), classWrite):
		n.deny("the preset " + string(j.presetOrDefault()) + " makes, moves and removes no files")
	case j.modeOrDefault() == Planner:
		n.deny("a planner does not write")
	case len(n.Parts) == 0:
		n.deny("the input names no file")
	default:
		n.allow("mode implementation allows it")
	}
}

// judgePatch judges the files of a patch, and reports whether it does more than edit.
func (j *judgement) judgePatch(n *Node, v jsontext.Value) (makes bool) {
	var all []change
	if err := json.Unmarshal(v, &all); err != nil {
		n.deny("the input's changes cannot be read: " + err.Error())
	}
	for _, c := range all {
		k := changeKind{}
		if json.Unmarshal(c.Kind, &k.Type) != nil && json.Unmarshal(c.Kind, &k, json.RejectUnknownMembers(true)) != nil {
			n.deny("the kind of a change cannot be read")
		}
		makes = makes || k.Type != "update" || k.MovePath != ""
		for _, p := range []string{c.Path, k.MovePath} {
			if p != "" {
				j.judgePath(n, writes, p, j.callDirs())
			}
		}
	}
	return makes
}

// plainHost matches names whose last label does not begin with a digit, as that of an address
// may do.
var plainHost = regexp.MustCompile(`^([a-z0-9_-]+\.)*[a-z_-][a-z0-9_-]*$`)

// judgeWebFetch applies the rules to the host of a fetch.
func (j *judgement) judgeWebFetch(n *Node, name string, in map[string]jsontext.Value) bool {
	if name != "WebFetch" {
		return false
	}
	s, ok := stringMember(n, in, "url")
	if !ok {
		return false
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		n.deny("want an http or https URL with a host")
		return false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if addr, err := netip.ParseAddr(host); err == nil && addr.Zone() == "" {
		host = addr.Unmap().String()
	} else if !plainHost.MatchString(host) { // a client may turn it into another host
		n.deny("the host is not on the list of what is known to be harmless: " + host + "; write a name in ASCII, or an address in its usual form")
		return false
	}
	return j.applyRules(n, func(r Rule, _ bool) (bool, bool) {
		if r.tool != name || r.bare {
			return false, false
		}
		ok, _ := path.Match(r.glob, host)
		return false, ok
	})
}

// judgeAgent applies the rules to the type of a sub-agent.
func (j *judgement) judgeAgent(n *Node, in map[string]jsontext.Value) bool {
	kind, ok := stringMember(n, in, "subagent_type")
	if !ok {
		kind, _ = stringMember(n, in, "agent")
	}
	return j.applyRules(n, func(r Rule, _ bool) (bool, bool) {
		if !sameTool(r.tool, "Task") || r.bare {
			return false, false
		}
		ok, _ := path.Match(r.glob, kind)
		return false, ok && kind != ""
	})
}

// listsMCPTool reports whether an MCP tool is listed.
func (p *Policy) listsMCPTool(name string) bool {
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
			// The name of a server may contain __ too; then it is another server.
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

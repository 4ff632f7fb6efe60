package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// Load reads a policy from YAML. Everything in it is optional:
//
//	mode: implementation       # or planner
//	preset: full               # or read-only, no-bash, safe-edit
//	unknown: deny              # or ask
//	reads: anywhere            # or roots
//	roots: [., ../shared]      # from the folder of the file
//	mcp: [hotel, bank/pay]
//	allow: ["Bash(docker build:*)"]
//	ask: ["Bash(git push:*)"]
//	deny: ["Read(**/.env)"]
//
// Load returns all errors, joined, each with file:line: an unknown or duplicate key, a
// value of the wrong kind, an invalid rule, a second document. The file name is used for
// errors and for relative roots; Load does not read the file.
func Load(file string, text []byte) (Policy, error) {
	l := loader{file: file}
	l.readDocument(text)
	if len(l.errs) > 0 {
		return Policy{}, errors.Join(l.errs...)
	}
	return l.p, nil
}

// ReadJudge returns the Judge of a policy in the form that Load reads.
func ReadJudge(text event.Raw) (adapters.Judge, error) {
	p, err := Load("policy", text)
	if err != nil {
		return nil, err
	}
	return p.Judge(), nil
}

type loader struct {
	file string
	p    Policy
	errs []error
}

func (l *loader) appendError(n *yaml.Node, format string, args ...any) {
	l.errs = append(l.errs, fmt.Errorf("%s:%d: %w", l.file, n.Line, fmt.Errorf(format, args...)))
}

func (l *loader) readDocument(text []byte) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return // an empty file is the zero policy
	case err != nil:
		l.errs = append(l.errs, fmt.Errorf("%s: %s", l.file, strings.TrimPrefix(err.Error(), "yaml: ")))
		return
	}
	if err := d.Decode(&second); err == nil {
		l.appendError(&second, "a second document; a policy is one")
	} else if !errors.Is(err, io.EOF) {
		l.errs = append(l.errs, fmt.Errorf("%s: %s", l.file, strings.TrimPrefix(err.Error(), "yaml: ")))
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return
	}
	if root.Kind != yaml.MappingNode {
		l.appendError(root, "want keys such as mode: and deny:, got %s", describeNode(root))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.Tag != "!!str" {
			l.appendError(k, "a key must be a word")
			continue
		}
		if line, twice := seen[k.Value]; twice {
			l.appendError(k, "duplicate key %s; first on line %d", k.Value, line)
			continue
		}
		seen[k.Value] = k.Line
		l.readMember(k, v)
	}
}

func (l *loader) readMember(k, v *yaml.Node) {
	switch k.Value {
	case "mode":
		l.p.Mode = Mode(l.readChoice(k, v, stringsOf(Modes())))
	case "preset":
		l.p.Preset = Preset(l.readChoice(k, v, stringsOf(Presets())))
	case "unknown":
		l.p.Unknown = adapters.Effect(l.readChoice(k, v, []string{"deny", "ask"}))
	case "reads":
		l.p.ConfineReads = l.readChoice(k, v, []string{"anywhere", "roots"}) == "roots"
	case "roots":
		for _, n := range l.readList(k, v) {
			if n.Value == "" {
				l.appendError(n, "a root that is empty; . is the folder of this file")
				continue
			}
			root := n.Value
			if !filepath.IsAbs(root) {
				dir, err := filepath.Abs(filepath.Dir(l.file))
				if err != nil {
					l.appendError(n, "root %q: %w", root, err)
				}
				root = filepath.Join(dir, root)
			}
			l.p.Roots = append(l.p.Roots, root)
		}
	case "mcp":
		for _, n := range l.readList(k, v) {
			if !validMCP(n.Value) {
				l.appendError(n, "mcp %q: want server, server/tool or *", n.Value)
			}
			l.p.MCP = append(l.p.MCP, n.Value)
		}
	case "allow":
		l.p.Rules.Allow = l.readRules(k, v)
	case "ask":
		l.p.Rules.Ask = l.readRules(k, v)
	case "deny":
		l.p.Rules.Deny = l.readRules(k, v)
	default:
		l.appendError(k, "no key %q: want one of mode, preset, unknown, reads, roots, mcp, allow, ask, deny", k.Value)
	}
}

func (l *loader) readRules(k, v *yaml.Node) (out []Rule) {
	seen := map[string]int{}
	for _, n := range l.readList(k, v) {
		r, err := ParseRule(n.Value)
		switch line, twice := seen[n.Value]; {
		case err != nil:
			l.appendError(n, "%w", err)
			continue
		case twice:
			l.appendError(n, "duplicate rule %q; first on line %d", n.Value, line)
		case k.Value == "allow" && r.glob != "" && knownTools[r.tool].class <= classWrite:
			l.appendError(n, "rule %q: path rules deny or ask; roots define the writable folders", n.Value)
		}
		seen[n.Value] = n.Line
		r.at = fmt.Sprintf("%s:%d", l.file, n.Line)
		out = append(out, r)
	}
	return out
}

// readChoice reads one of a few words.
func (l *loader) readChoice(k, v *yaml.Node, of []string) string {
	if v.Kind == yaml.ScalarNode && v.Tag == "!!str" && slices.Contains(of, v.Value) {
		return v.Value
	}
	l.appendError(v, "%s: want one of %s, got %s", k.Value, strings.Join(of, ", "), describeNode(v))
	return ""
}

// readList reads a list of strings.
func (l *loader) readList(k, v *yaml.Node) (out []*yaml.Node) {
	if v.Kind != yaml.SequenceNode {
		l.appendError(v, "%s: want a list, got %s", k.Value, describeNode(v))
		return nil
	}
	for _, n := range v.Content {
		if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
			l.appendError(n, "%s: want strings, got %s", k.Value, describeNode(n))
			continue
		}
		out = append(out, n)
	}
	return out
}

func describeNode(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias *" + n.Value
	}
	if n.Tag == "!!null" {
		return "nothing"
	}
	return fmt.Sprintf("%q", n.Value)
}

func stringsOf[T ~string](list []T) (out []string) {
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

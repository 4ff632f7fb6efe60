package redact

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
)

// ruleFile holds the expressions of the rules of gitleaks 8.30.1 (their license is in
// gitleaks.LICENSE). Its detector is not used: it brings readers of archives, a reader of
// configurations and its own command along, which every build had to compile. A test
// compares the two, and writes the file with -update.
//
//go:embed secret_rules.json
var ruleFile []byte

// detector finds secrets by rules.
type detector struct {
	rules     []secretRule
	allowed   []allowlist
	keywords  *ahocorasick.Trie
	byKeyword map[string][]int // numbers of rules
	always    []int            // rules without keywords
}

type secretRule struct {
	generic     bool // any other rule that finds the same is better
	regex       *regexp.Regexp
	secretGroup int
	entropy     float64
	allowed     []allowlist
}

// allowlist describes findings that are no secrets.
type allowlist struct {
	all       bool // that match all of its conditions, not one of them
	target    string
	regexes   []*regexp.Regexp
	stopwords []string
	paths     bool
}

// ruleData is the form of rules in their file.
type ruleData struct {
	Allowlist allowlistData `json:"allowlist"`
	Rules     []struct {
		ID          string          `json:"id"`
		Regex       string          `json:"regex"`
		SecretGroup int             `json:"secret_group,omitempty"`
		Entropy     float64         `json:"entropy,omitempty"`
		Keywords    []string        `json:"keywords,omitempty"`
		Allowlists  []allowlistData `json:"allowlists,omitempty"`
	} `json:"rules"`
}

type allowlistData struct {
	Condition   string   `json:"condition,omitempty"`
	RegexTarget string   `json:"regex_target,omitempty"`
	Regexes     []string `json:"regexes,omitempty"`
	StopWords   []string `json:"stopwords,omitempty"`
	Paths       bool     `json:"paths,omitempty"` // it is for files with certain paths
}

// secretDetector is made once, because compiling the rules takes longer than a case.
var secretDetector = sync.OnceValues(func() (*detector, error) {
	d, err := newDetector(ruleFile)
	if err != nil {
		return nil, fmt.Errorf("redact: the rules of secrets: %w", err)
	}
	return d, nil
})

func newDetector(file []byte) (*detector, error) {
	var content ruleData
	if err := json.Unmarshal(file, &content); err != nil {
		return nil, err
	}
	d := &detector{byKeyword: map[string][]int{}}
	general, err := content.Allowlist.compile()
	if err != nil {
		return nil, err
	}
	d.allowed = []allowlist{general}
	for _, r := range content.Rules {
		regex, err := regexp.Compile(r.Regex)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		rule := secretRule{generic: strings.Contains(strings.ToLower(r.ID), "generic"), regex: regex, secretGroup: r.SecretGroup, entropy: r.Entropy}
		for _, f := range r.Allowlists {
			a, err := f.compile()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.ID, err)
			}
			rule.allowed = append(rule.allowed, a)
		}
		n := len(d.rules)
		d.rules = append(d.rules, rule)
		for _, k := range r.Keywords {
			k = strings.ToLower(k)
			d.byKeyword[k] = append(d.byKeyword[k], n)
		}
		if len(r.Keywords) == 0 {
			d.always = append(d.always, n)
		}
	}
	b := ahocorasick.NewTrieBuilder()
	for k := range d.byKeyword {
		b.AddString(k)
	}
	d.keywords = b.Build()
	return d, nil
}

func (f allowlistData) compile() (allowlist, error) {
	a := allowlist{all: strings.EqualFold(f.Condition, "AND"), target: f.RegexTarget, paths: f.Paths}
	for _, s := range f.Regexes {
		r, err := regexp.Compile(s)
		if err != nil {
			return a, err
		}
		a.regexes = append(a.regexes, r)
	}
	for _, s := range f.StopWords {
		a.stopwords = append(a.stopwords, strings.ToLower(s))
	}
	return a, nil
}

// finding is what a rule found: a secret in a match in lines.
type finding struct {
	rule                 int
	secret, match, lines string
	line                 int
}

// find returns the secrets of a text, in the order of the rules.
func (d *detector) find(text string) []string {
	lower := strings.ToLower(text)
	numbers := slices.Clone(d.always)
	for _, m := range d.keywords.MatchString(lower) {
		numbers = append(numbers, d.byKeyword[m.MatchString()]...)
	}
	slices.Sort(numbers)
	var found []finding
	for _, n := range slices.Compact(numbers) {
		found = append(found, d.findBy(n, text)...)
	}
	var out []string
	for _, f := range found {
		better := func(o finding) bool {
			return o.line == f.line && !d.rules[o.rule].generic && strings.Contains(o.secret, f.secret)
		}
		if !d.rules[f.rule].generic || !slices.ContainsFunc(found, better) {
			out = append(out, f.secret)
		}
	}
	return out
}

// findBy returns what a rule finds.
func (d *detector) findBy(number int, text string) []finding {
	rule := d.rules[number]
	var out []finding
	for _, at := range rule.regex.FindAllStringIndex(text, -1) {
		match := strings.Trim(text[at[0]:at[1]], "\n")
		end := at[0] + len(match)
		f := finding{rule: number, secret: match, match: match, line: strings.Count(text[:at[0]], "\n")}
		from := max(0, strings.LastIndexByte(text[:at[0]], '\n'))
		to := len(text)
		if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
			to = end + i
		}
		f.lines = text[from:to]
		if groups := rule.regex.FindStringSubmatch(match); len(groups) > 1 {
			if rule.secretGroup > 0 {
				f.secret = groups[rule.secretGroup]
			} else if i := slices.IndexFunc(groups[1:], func(s string) bool { return s != "" }); i >= 0 {
				f.secret = groups[1+i]
			}
		}
		if rule.entropy > 0 && entropy(f.secret) <= rule.entropy {
			continue
		}
		allows := func(a allowlist) bool { return a.allows(f) }
		if !slices.ContainsFunc(d.allowed, allows) && !slices.ContainsFunc(rule.allowed, allows) {
			out = append(out, f)
		}
	}
	return out
}

func (a allowlist) allows(f finding) bool {
	target := f.secret
	switch a.target {
	case "match":
		target = f.match
	case "line":
		target = f.lines
	}
	lower := strings.ToLower(f.secret)
	regex := slices.ContainsFunc(a.regexes, func(r *regexp.Regexp) bool { return target != "" && r.MatchString(target) })
	word := slices.ContainsFunc(a.stopwords, func(w string) bool { return strings.Contains(lower, w) })
	if a.all {
		return !a.paths && (regex || len(a.regexes) == 0) && (word || len(a.stopwords) == 0)
	}
	return regex || word
}

// entropy returns the bits that each byte of s has, by the frequency of its characters.
func entropy(s string) (sum float64) {
	counts := map[rune]int{}
	for _, c := range s {
		counts[c]++
	}
	for _, n := range counts {
		f := float64(n) / float64(len(s))
		sum -= f * math.Log2(f)
	}
	return sum
}

package policy

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// field is a word of a command after expansion, as far as it can be known without
// running anything.
type field struct {
	src    string // as written
	text   string // if known; for a glob the pattern, with quoted characters escaped
	known  bool
	prefix string // its certain beginning, if not known
	splits bool   // it may become no word, or several with any beginning
	glob   bool   // it becomes file names, or stays as it is; all begin with prefix
	number bool   // it is a number or a hash, or nothing
	pipe   bool   // it is a pipe to a command that is judged separately
}

// literalField returns a field with a known text.
func literalField(s string) field { return field{src: s, text: s, known: true} }

// unknownField returns a field that may become any words.
func unknownField(src string) field { return field{src: src, splits: true} }

// mayBeOption reports whether the field may become an option.
func (f *field) mayBeOption() bool {
	switch {
	case f.known:
		return len(f.text) > 1 && f.text[0] == '-'
	case f.splits:
		return !f.number
	}
	return f.prefix == "" || f.prefix[0] == '-'
}

// mayBegin reports whether the field may begin with a text that begins the name of no file. So
// a pattern may only if it does.
func (f *field) mayBegin(with string) bool {
	head := f.text + f.prefix
	k := min(len(head), len(with))
	return head[:k] == with[:k] && (k == len(with) || !f.known && !f.glob)
}

// mostFields is the limit of words of a command.
const mostFields = 4096

// expandWords expands the words of a command. It judges the commands inside of them as
// parts of n.
func (j *judgement) expandWords(n *Node, ws []*syntax.Word, st state) []field {
	var out []field
	for _, w := range ws {
		j.judgeWord(n, w, st)
		src := j.source(w)
		braces := &syntax.Word{Parts: slices.Clone(w.Parts)} // a body may be judged twice
		if j.lang != syntax.LangPOSIX {
			syntax.SplitBraces(braces)
		}
		for one, err := range expand.BracesSeq(nil, braces) {
			if j.lang != syntax.LangPOSIX && strayBraces.MatchString(unquoted(one)) {
				n.deny("braces that shells read in different ways; write the words themselves, or quotes around them")
			}
			if err != nil || len(out) >= mostFields {
				n.deny("the braces make too many words")
				return out
			}
			f, gone := j.expandValue(one, st)
			if gone {
				continue
			}
			f.src = src
			out = append(out, f)
		}
	}
	return out
}

// strayBraces matches braces that the parser takes for text, and shells perhaps for a list, or drop.
// Those of git are not: @{u}..HEAD.
var strayBraces = regexp.MustCompile(`(^|[^\\]|\\\\)\{(.*,|[^}]*\.\.)|(^|[^\\@]|\\\\)\{.*\.\.`)

// unquoted returns the text of a word without quotes, with x for its other parts.
func unquoted(w *syntax.Word) string {
	var sb strings.Builder
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			sb.WriteString(lit.Value)
		} else {
			sb.WriteByte('x')
		}
	}
	return sb.String()
}

// expandWord expands a word without braces, such as that of a redirection.
func (j *judgement) expandWord(n *Node, w *syntax.Word, st state) field {
	j.judgeWord(n, w, st)
	f, _ := j.expandValue(w, st)
	f.src = j.source(w)
	return f
}

// building is a field under construction.
type building struct {
	f       field
	sb      strings.Builder // the text or the pattern
	plain   strings.Builder // the text without escapes
	unknown bool
	globAt  int // the position of the first special character in plain, or -1
	bracket bool
	quotes  bool // a part is quoted, so an empty word stays
}

// expandValue returns the expansion of a word. gone means that it is empty and not
// quoted, so it becomes no word.
func (j *judgement) expandValue(w *syntax.Word, st state) (out field, gone bool) {
	b := building{globAt: -1}
	for i, part := range w.Parts {
		j.addPart(&b, part, false, i == 0, len(w.Parts) == 1, st)
	}
	f := b.f
	text := b.plain.String()
	if b.bracket && b.globAt < 0 && strings.Contains(text, "]") && text != "[]" {
		b.globAt = strings.IndexByte(text, '[')
	}
	switch {
	case b.unknown:
		if b.globAt >= 0 && b.globAt < len(f.prefix) {
			f.prefix = f.prefix[:b.globAt]
		}
		if b.globAt >= 0 {
			f.splits = true
		}
	case b.globAt >= 0:
		f.glob, f.text, f.prefix = true, b.sb.String(), text[:b.globAt]
	default:
		f.known, f.text = true, text
	}
	return f, f.known && text == "" && !b.quotes
}

// loseText makes the text unknown from here on.
func (b *building) loseText(splits bool) {
	if !b.unknown {
		b.unknown, b.f.prefix = true, b.plain.String()
	}
	b.f.splits = b.f.splits || splits
}

func (b *building) addQuoted(s string) {
	for _, r := range s {
		if strings.ContainsRune(`*?[]\`, r) {
			b.sb.WriteByte('\\')
		}
		b.sb.WriteRune(r)
	}
	b.plain.WriteString(s)
}

func (j *judgement) addPart(b *building, part syntax.WordPart, inQuotes, first, only bool, st state) {
	switch p := part.(type) {
	case *syntax.Lit:
		if inQuotes {
			b.addQuoted(inQuotesEscapes.Replace(p.Value))
			return
		}
		j.addLiteral(b, p.Value, first, only)
	case *syntax.SglQuoted:
		b.quotes = true
		if !p.Dollar || !strings.Contains(p.Value, `\`) {
			b.addQuoted(p.Value)
		} else {
			b.loseText(false)
		}
	case *syntax.DblQuoted:
		b.quotes = true
		for _, q := range p.Parts {
			j.addPart(b, q, true, false, false, st)
		}
	case *syntax.ParamExp:
		j.addParam(b, p, inQuotes, st)
	case *syntax.ArithmExp:
		b.loseText(false)
	case *syntax.ProcSubst:
		b.f.pipe = first && only
		b.addQuoted("/dev/fd/")
		b.loseText(false)
	case *syntax.CmdSubst:
		if j.source(p) == "$(nproc)" {
			b.addQuoted("8")
			return
		}
		b.loseText(!inQuotes)
		b.f.number = only && printsNumber.MatchString(j.source(p))
	default:
		b.loseText(!inQuotes)
	}
}

// addLiteral adds text that is not quoted, with its tilde, special characters and
// backslashes.
func (j *judgement) addLiteral(b *building, s string, first, only bool) {
	if first && strings.HasPrefix(s, "~") {
		user, _, slash := strings.Cut(s, "/")
		switch home, ok := j.expandHome("~"); {
		case user != "~" && !slash && !only, user == "~" && !slash && !only, strings.ContainsRune(user, '\\'):
			b.loseText(false)
		case user == "~" && ok:
			b.addQuoted(home)
			s = s[1:]
		default:
			b.loseText(false)
		}
	} else if strings.Contains(s, "=~") || strings.Contains(s, ":~") {
		b.loseText(false) // expanded if the word looks like an assignment
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch r {
		case '\\':
			if i == len(s) {
				b.addQuoted(`\`)
				continue
			}
			c, size := utf8.DecodeRuneInString(s[i:])
			i += size
			b.addQuoted(string(c))
			continue
		case '*', '?':
			if b.globAt < 0 {
				b.globAt = b.plain.Len()
			}
		case '[':
			b.bracket = true
		}
		b.sb.WriteRune(r)
		b.plain.WriteRune(r)
	}
}

func (j *judgement) addParam(b *building, p *syntax.ParamExp, inQuotes bool, st state) {
	plain := !p.Length && !p.Excl && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	if plain {
		value, ok := "", false
		switch name {
		case "HOME":
			value, ok = j.Home, j.Home != ""
		case "PWD":
			if ok = len(st.dirs) == 1; ok {
				value = st.dirs[0]
			}
		case "#", "?", "$":
			b.loseText(false)
			if b.f.prefix == "" {
				b.f.prefix = "0" // a number
			}
			return
		}
		if ok && (inQuotes || strings.Trim(value, safePath) == "") {
			b.addQuoted(value)
			return
		}
	}
	several := name == "@" || p.Names != 0 || isAt(p.Index) || p.Exp != nil && p.Exp.Word != nil && p.Exp.Word.Lit() == ""
	b.loseText(!inQuotes || several)
}

// printsNumber matches the substitutions that print a number or a hash, or nothing.
var printsNumber = regexp.MustCompile(`^\$\((wc -l < [\w./]+|git merge-base [\w./]+ [\w./]+)\)$`)

// safePath are the characters that do not split a path into words.
const safePath = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@"

// isAt reports whether an index means all elements.
func isAt(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}

// inQuotesEscapes removes the backslashes that have a meaning in double quotes.
var inQuotesEscapes = strings.NewReplacer(`\$`, "$", "\\`", "`", `\"`, `"`, `\\`, `\`)

// source returns a part of a command as written.
func (j *judgement) source(n syntax.Node) string {
	if from, to := n.Pos(), n.End(); from.IsValid() && to.After(from) && int(to.Offset()) <= len(j.text) {
		return j.text[from.Offset():to.Offset()]
	}
	var sb strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&sb, n); err != nil {
		return "?"
	}
	return sb.String()
}

package policy

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// field is a word of a command after its expansions, as far as it can be known
// without running anything.
type field struct {
	src    string // as it was written
	text   string // if known; of a glob its pattern, quoted characters behind a backslash
	known  bool
	prefix string // what it surely begins with, if not known
	splits bool   // it may become no word, or several that begin with anything
	glob   bool   // it becomes the names of files, or stays what it is: several words that begin with prefix
	pipe   bool   // it is a pipe to a command that is judged apart
}

// literal is a field that is what it says.
func literal(s string) field { return field{src: s, text: s, known: true} }

// somewhat is a field of which nobody knows anything.
func somewhat(src string) field { return field{src: src, splits: true} }

// mayBeOption reports whether an option may come of it.
func (f *field) mayBeOption() bool {
	switch {
	case f.known:
		return len(f.text) > 1 && f.text[0] == '-'
	case f.splits:
		return true
	}
	return f.prefix == "" || f.prefix[0] == '-'
}

// mostFields is how many words a command may have.
const mostFields = 4096

// fields are the words of a command after expansion. What runs inside of them is
// judged as parts of n.
func (j *judgement) fields(n *Node, ws []*syntax.Word, st state) []field {
	var out []field
	for _, w := range ws {
		j.word(n, w, st)
		src := j.source(w)
		braces := &syntax.Word{Parts: slices.Clone(w.Parts)} // a body may be judged again
		syntax.SplitBraces(braces)
		for one, err := range expand.BracesSeq(nil, braces) {
			if err != nil || len(out) >= mostFields {
				n.deny("the braces make too many words")
				return out
			}
			f, gone := j.value(one, st)
			if gone {
				continue
			}
			f.src = src
			out = append(out, f)
		}
	}
	return out
}

// field is a word where braces mean nothing, such as a redirection's.
func (j *judgement) field(n *Node, w *syntax.Word, st state) field {
	j.word(n, w, st)
	f, _ := j.value(w, st)
	f.src = j.source(w)
	return f
}

// building is a field that is being put together.
type building struct {
	f       field
	sb      strings.Builder // the text, or the pattern
	plain   strings.Builder // the text without escapes
	unknown bool
	globAt  int // where in plain the first special character stands, or -1
	bracket bool
	quotes  bool // a part is quoted: an empty word stays
}

// value is what a word becomes. gone: it is empty without quotes, and no word.
func (j *judgement) value(w *syntax.Word, st state) (out field, gone bool) {
	b := building{globAt: -1}
	for i, part := range w.Parts {
		j.add(&b, part, false, i == 0, len(w.Parts) == 1, st)
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

// lose says that from here on nobody knows the text.
func (b *building) lose(splits bool) {
	if !b.unknown {
		b.unknown, b.f.prefix = true, b.plain.String()
	}
	b.f.splits = b.f.splits || splits
}

func (b *building) quoted(s string) {
	for _, r := range s {
		if strings.ContainsRune(`*?[]\`, r) {
			b.sb.WriteByte('\\')
		}
		b.sb.WriteRune(r)
	}
	b.plain.WriteString(s)
}

func (j *judgement) add(b *building, part syntax.WordPart, inQuotes, first, only bool, st state) {
	switch p := part.(type) {
	case *syntax.Lit:
		if inQuotes {
			b.quoted(unescape(p.Value, "$`\"\\"))
			return
		}
		j.addLiteral(b, p.Value, first, only)
	case *syntax.SglQuoted:
		b.quotes = true
		if !p.Dollar {
			b.quoted(p.Value)
		} else if s, ok := ansiC(p.Value); ok {
			b.quoted(s)
		} else {
			b.lose(false)
		}
	case *syntax.DblQuoted:
		b.quotes = true
		for _, q := range p.Parts {
			j.add(b, q, true, false, false, st)
		}
	case *syntax.ParamExp:
		j.addParam(b, p, inQuotes, st)
	case *syntax.ArithmExp:
		b.lose(false)
	case *syntax.ProcSubst:
		b.f.pipe = first && only
		b.quoted("/dev/fd/")
		b.lose(false)
	default:
		b.lose(!inQuotes)
	}
}

// addLiteral adds text that is not quoted: a tilde, special characters and
// backslashes mean something.
func (j *judgement) addLiteral(b *building, s string, first, only bool) {
	if first && strings.HasPrefix(s, "~") {
		user, _, slash := strings.Cut(s, "/")
		switch home, ok := j.home("~"); {
		case user != "~" && !slash && !only, user == "~" && !slash && !only, strings.ContainsRune(user, '\\'):
			b.lose(false)
		case user == "~" && ok:
			b.quoted(home)
			s = s[1:]
		default:
			b.lose(false)
		}
	} else if strings.Contains(s, "=~") || strings.Contains(s, ":~") {
		b.lose(false) // expanded where it looks like an assignment
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch r {
		case '\\':
			if i == len(s) {
				b.quoted(`\`)
				continue
			}
			c, size := utf8.DecodeRuneInString(s[i:])
			i += size
			b.quoted(string(c))
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
		case "#", "?", "$", "!":
			b.lose(false)
			if b.f.prefix == "" {
				b.f.prefix = "0" // a number
			}
			return
		}
		if ok && (inQuotes || strings.Trim(value, safePath) == "") {
			b.quoted(value)
			return
		}
	}
	several := name == "@" || p.Names != 0 || isAt(p.Index) || p.Exp != nil && p.Exp.Word != nil && p.Exp.Word.Lit() == ""
	b.lose(!inQuotes || several)
}

// safePath are the characters of a path that splits into no words.
const safePath = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@"

// isAt reports whether an index means all elements, each a word.
func isAt(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}

// unescape removes the backslashes that mean something before these characters.
func unescape(s, before string) string {
	if !strings.ContainsRune(s, '\\') {
		return s
	}
	var sb strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(before, s[i+1]) >= 0 {
			i++
		}
		sb.WriteByte(s[i])
	}
	return sb.String()
}

// ansiC is the text of $'…'. It reports false for what shells do not agree about.
func ansiC(s string) (string, bool) {
	var sb strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			sb.WriteByte(s[i])
			continue
		}
		if i++; i >= len(s) {
			return "", false
		}
		if k := strings.IndexByte(`abefnrtv\'"E?`, s[i]); k >= 0 {
			sb.WriteByte("\a\b\x1b\f\n\r\t\v\\'\"\x1b?"[k])
			continue
		}
		base, most := 16, 2
		switch s[i] {
		case 'x':
		case 'u':
			most = 4
		case 'U':
			most = 8
		case '0', '1', '2', '3', '4', '5', '6', '7':
			base, most = 8, 3
			i--
		default:
			return "", false
		}
		n, k := 0, 0
		for ; k < most && i+1 < len(s); k++ {
			d := strings.IndexByte("0123456789abcdef", s[i+1]|0x20)
			if s[i+1] >= '0' && s[i+1] <= '9' {
				d = int(s[i+1] - '0')
			}
			if d < 0 || d >= base {
				break
			}
			n, i = n*base+d, i+1
		}
		if k == 0 || n == 0 || n > 0x7f {
			return "", false // a NUL ends the text, and the rest depends on the locale
		}
		sb.WriteByte(byte(n))
	}
	return sb.String(), true
}

// source is how a part of a command is written.
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

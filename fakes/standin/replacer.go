package standin

import "strings"

// replacer replaces strings in one pass from the left. If two of them begin at the
// same byte it replaces the longer one, because the working directory may be inside
// the home. It does what a strings.Replacer does, in a fraction of the time if most
// of the strings are UUIDs: the text of a run holds thousands and is searched for
// each run.
type replacer struct {
	ids   map[string]string // what has the dashes of a UUID
	other []pair
}

type pair struct{ from, to string }

func (w *replacer) addPair(from, to string) {
	if !hasUUIDDashes(from) {
		w.other = append(w.other, pair{from, to})
		return
	}
	if w.ids == nil {
		w.ids = map[string]string{}
	}
	w.ids[from] = to
}

// hasUUIDDashes reports whether a string can be found by the dashes of a UUID.
func hasUUIDDashes(s string) bool { return len(s) == uuidLen && s[8] == '-' && s[13] == '-' }

func (w *replacer) replace(s string) string {
	var out strings.Builder
	next := make([]int, len(w.other)) // where each of the others occurs next
	for i := range next {
		next[i] = -1
	}
	copied, dash := 0, 0 // dash is where to look for the next dash
	id, isID := 0, false
	for {
		if !isID || id < copied {
			id, dash, isID = w.nextID(s, copied, max(dash, copied))
		}
		at, found := len(s), pair{}
		if isID {
			at, found = id, pair{s[id : id+uuidLen], w.ids[s[id:id+uuidLen]]}
		}
		for i, p := range w.other {
			if next[i] < copied {
				if next[i] = strings.Index(s[copied:], p.from); next[i] < 0 {
					next[i] = len(s)
				} else {
					next[i] += copied
				}
			}
			if n := next[i]; n < at || n == at && n < len(s) && len(p.from) > len(found.from) {
				at, found = n, p
			}
		}
		if at == len(s) {
			break
		}
		out.WriteString(s[copied:at])
		out.WriteString(found.to)
		copied = at + len(found.from)
	}
	if copied == 0 {
		return s
	}
	out.WriteString(s[copied:])
	return out.String()
}

// nextID finds the next of the ids that begins at from or later. The search begins
// at dash.
func (w *replacer) nextID(s string, from, dash int) (at, next int, ok bool) {
	for len(w.ids) > 0 {
		n := strings.IndexByte(s[dash:], '-')
		if n < 0 {
			break
		}
		i := dash + n - 8 // of the first dash of a UUID
		dash += n + 1
		if i < from || i+uuidLen > len(s) || s[i+13] != '-' {
			continue
		}
		if _, ok := w.ids[s[i:i+uuidLen]]; ok {
			return i, dash, true
		}
	}
	return len(s), len(s), false
}

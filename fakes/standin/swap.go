package standin

import "strings"

// swap puts strings in the place of others, in one pass from the left; where
// two begin at the same byte it is the longer one: the working directory may lie
// in the home. It does what a strings.Replacer does, in a fraction of the time
// where most of them are UUIDs: the text of a run holds thousands, and is searched
// for each run.
type swap struct {
	ids   map[string]string // what has the dashes of a UUID
	other []pair
}

type pair struct{ from, to string }

func (w *swap) add(from, to string) {
	if !dashed(from) {
		w.other = append(w.other, pair{from, to})
		return
	}
	if w.ids == nil {
		w.ids = map[string]string{}
	}
	w.ids[from] = to
}

// dashed reports whether a string could be found by the dashes of a UUID.
func dashed(s string) bool { return len(s) == uuidLen && s[8] == '-' && s[13] == '-' }

func (w *swap) replace(s string) string {
	var out strings.Builder
	next := make([]int, len(w.other)) // where each of the others stands next
	for i := range next {
		next[i] = -1
	}
	done, dash := 0, 0 // what was copied; where to look for the next dash
	id, isID := 0, false
	for {
		if !isID || id < done {
			id, dash, isID = w.nextID(s, done, max(dash, done))
		}
		at, found := len(s), pair{}
		if isID {
			at, found = id, pair{s[id : id+uuidLen], w.ids[s[id:id+uuidLen]]}
		}
		for i, p := range w.other {
			if next[i] < done {
				if next[i] = strings.Index(s[done:], p.from); next[i] < 0 {
					next[i] = len(s)
				} else {
					next[i] += done
				}
			}
			if n := next[i]; n < at || n == at && n < len(s) && len(p.from) > len(found.from) {
				at, found = n, p
			}
		}
		if at == len(s) {
			break
		}
		out.WriteString(s[done:at])
		out.WriteString(found.to)
		done = at + len(found.from)
	}
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return out.String()
}

// nextID finds the next of the ids that begins at from or later. The search goes
// on at dash.
func (w *swap) nextID(s string, from, dash int) (at, next int, ok bool) {
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

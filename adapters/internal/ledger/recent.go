package ledger

// maxRecent bounds what is remembered of what is over: a turn may call tools
// and start sub-agents without end, and what comes late comes soon.
const maxRecent = 1024

// recent remembers a number for each of the newest ids. The zero value is
// ready.
type recent struct {
	of    map[string]int
	order []string // a ring of the ids, once it is full
	next  int
	most  int // the highest number that was forgotten
}

func (r *recent) has(id string) bool {
	_, ok := r.of[id]
	return ok
}

// get is the number of an id; of one that may have been forgotten it is the
// highest that was.
func (r *recent) get(id string) int {
	if n, ok := r.of[id]; ok {
		return n
	}
	return r.most
}

func (r *recent) put(id string, n int) {
	switch {
	case r.has(id):
	case len(r.order) < maxRecent:
		r.order = append(r.order, id)
	default:
		old := r.order[r.next]
		r.most = max(r.most, r.of[old])
		delete(r.of, old)
		r.order[r.next] = id
		r.next = (r.next + 1) % maxRecent
	}
	if r.of == nil {
		r.of = map[string]int{}
	}
	r.of[id] = n
}

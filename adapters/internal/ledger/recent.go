package ledger

// maxRecent bounds the ended ids that are remembered, because a turn may call
// tools and start sub-agents without limit. Late lines arrive soon after the
// end.
const maxRecent = 1024

// recent remembers a number for each of the newest ids. The zero value is ready
// to use.
type recent struct {
	numbers    map[string]int
	ring       []string // a ring of ids, once it is full
	next       int
	maxEvicted int // the highest number of an evicted id
}

func (r *recent) contains(id string) bool {
	_, ok := r.numbers[id]
	return ok
}

// get returns the number of an id. For an unknown id, which may have been
// evicted, it returns the highest evicted number.
func (r *recent) get(id string) int {
	if n, ok := r.numbers[id]; ok {
		return n
	}
	return r.maxEvicted
}

func (r *recent) remember(id string, n int) {
	switch {
	case r.contains(id):
	case len(r.ring) < maxRecent:
		r.ring = append(r.ring, id)
	default:
		old := r.ring[r.next]
		r.maxEvicted = max(r.maxEvicted, r.numbers[old])
		delete(r.numbers, old)
		r.ring[r.next] = id
		r.next = (r.next + 1) % maxRecent
	}
	if r.numbers == nil {
		r.numbers = map[string]int{}
	}
	r.numbers[id] = n
}

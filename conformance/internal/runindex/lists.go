package runindex

import (
	"fmt"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// RecordedList returns the list of that name that the runtime reported last in the recording;
// ok is false if it reported none. Requests for lists do not move a play, so that the lines that
// were played need not hold the reply.
func RecordedList(r *conformance.Run, list string) (last wire.Listing, ok bool) {
	rt := Runtime(r)
	if rt.ReadLists == nil || r.Case == nil {
		return last, false
	}
	methods, resolve := map[string]string{}, rt.Resolve()
	for _, w := range r.Case.Wire {
		request := func(id []byte) string { return fmt.Sprint(w.Process, " ", string(id)) }
		switch w.Dir {
		case fixtures.In:
			in := rt.ReadInput(w.Bytes)
			methods[request(in.ID)] = in.Method
		case fixtures.Out:
			l := w.Read(rt)
			resolve(&l)
			method := l.Method
			if l.RepliesTo != nil {
				method = methods[request(l.RepliesTo)]
			}
			for _, x := range rt.ReadLists(method, &l) {
				if x.List == list {
					last, ok = x, true
				}
			}
		default:
		}
	}
	return last, ok
}

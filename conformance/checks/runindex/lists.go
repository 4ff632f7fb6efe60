package runindex

import (
	"fmt"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// ListingAt returns the list of that name that the runtime reported last before the step
// after the one with this index; ok is false if it reported none.
func ListingAt(r *conformance.Run, step int, list string) (last wire.Listing, ok bool) {
	rt := Runtime(r)
	if rt.ReadLists == nil {
		return last, false
	}
	end := len(r.Played)
	if step+1 < len(r.Steps) {
		end = min(end, r.Steps[step+1].Line)
	}
	lines, methods := Of(r).Lines(), map[string]string{}
	for i, p := range r.Played[:end] {
		request := func(id []byte) string { return fmt.Sprint(p.Line.Process, " ", string(id)) }
		switch l := &lines[i].Line; {
		case p.Line.Dir == fixtures.In:
			in := rt.ReadInput(p.Line.Bytes)
			methods[request(in.ID)] = in.Method
		case p.Line.Dir != fixtures.Out:
		default:
			method := l.Method
			if l.RepliesTo != nil {
				method = methods[request(l.RepliesTo)]
			}
			for _, x := range rt.ReadLists(method, l) {
				if x.List == list {
					last, ok = x, true
				}
			}
		}
	}
	return last, ok
}

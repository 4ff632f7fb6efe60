package schema

import (
	"slices"
	"strings"
)

// Universe is everything that a runtime may send.
type Universe struct {
	Messages, Fields, Values []string
}

// Universe returns the names that are reachable from the messages of the runtime.
// The fields of types for which stop returns true are left out.
func (s *Schema) Universe(stop func(typ string) bool) Universe {
	var u Universe
	done := map[string]bool{}
	for _, r := range s.Roots {
		if r.Kind == Message {
			if r.Name == "stdout" {
				s.reach(&u, r.Type, "", done, stop)
			}
			continue
		}
		u.Messages = append(u.Messages, r.Kind+" "+r.Name)
		if r.Kind != Request {
			s.reach(&u, r.Type, "", done, stop)
		}
	}
	slices.Sort(u.Messages)
	slices.Sort(u.Fields)
	slices.Sort(u.Values)
	return u
}

func (s *Schema) reach(u *Universe, expr, place string, done map[string]bool, stop func(string) bool) {
	for _, alt := range splitTop(expr, " | ") {
		if of, ok := strings.CutSuffix(alt, "[]"); ok {
			s.reach(u, unwrap(of), place, done, stop)
			continue
		}
		if strings.HasPrefix(alt, "{") {
			s.reach(u, alt[1:len(alt)-1], place, done, stop)
			continue
		}
		t, ok := s.Types[alt]
		switch {
		case ok && (done[alt] || stop != nil && stop(alt)):
		case ok && t.Expr != "":
			done[alt] = true
			s.reach(u, t.Expr, alt, done, stop)
		case ok:
			done[alt] = true
			for _, f := range t.Fields {
				u.Fields = append(u.Fields, alt+"."+f.Name)
				s.reach(u, f.Type, alt+"."+f.Name, done, stop)
			}
		case alt != "" && isLiteral(alt) && place != "":
			u.Values = append(u.Values, place+"="+alt)
		}
	}
}

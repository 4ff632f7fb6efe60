package drift

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures/schema"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// schemaChanges compares declared messages, types, members and values.
func schemaChanges(runtime string, a, b *schema.Schema) []Change {
	if a == nil || b == nil {
		return nil
	}
	var tags *wire.Tags
	if rt := runtimes.Find(runtime); rt != nil {
		tags = rt.Tags
	}
	var out []Change
	change := func(sort Sort, what, detail string) {
		out = append(out, Change{Level: LevelSchema, Sort: sort, What: what, Detail: detail})
	}
	roots := func(s *schema.Schema) map[string]string {
		m := map[string]string{}
		for _, r := range s.Roots {
			m[r.Kind+" "+r.Name] = ""
		}
		for _, name := range s.Lines(tags).Names {
			m[name] = ""
		}
		return m
	}
	ra, rb := roots(a), roots(b)
	compareSets(ra, rb, change)
	for _, name := range sortedKeys(a.Types, b.Types) {
		ta, inA := a.Types[name]
		tb, inB := b.Types[name]
		switch {
		case !inA:
			change(Added, "type "+name, "")
		case !inB:
			change(Gone, "type "+name, "")
		case ta.Expr != "" || tb.Expr != "":
			va, vb := alternatives(ta.Expr), alternatives(tb.Expr)
			if len(va) > 0 && len(vb) > 0 {
				compareSets(valuesOf(name, va), valuesOf(name, vb), change)
			}
		default:
			fa, fb := fieldsOf(name, ta), fieldsOf(name, tb)
			compareSets(fa, fb, change)
			for _, f := range sortedKeys(fa, fb) {
				x, okA := fa[f]
				y, okB := fb[f]
				if okA && okB && x != y {
					compareTypes(f, x, y, change)
				}
			}
		}
	}
	return sortChanges(out)
}

// compareTypes reports the values that were added to or removed from a list, or else
// both types.
func compareTypes(field, x, y string, change func(Sort, string, string)) {
	va, vb := valuesOf(strings.TrimPrefix(field, "field "), alternatives(x)), valuesOf(strings.TrimPrefix(field, "field "), alternatives(y))
	if len(va) == len(alternatives(x)) && len(vb) == len(alternatives(y)) && len(va)+len(vb) > 2 {
		compareSets(va, vb, change)
		return
	}
	change(Changed, field, x+" → "+y)
}

func alternatives(expr string) []string { return schema.Alternatives(expr) }

func valuesOf(name string, alts []string) map[string]string {
	m := map[string]string{}
	for _, v := range alts {
		m["value "+name+"="+v] = ""
	}
	return m
}

func fieldsOf(name string, t schema.Type) map[string]string {
	m := map[string]string{}
	for _, f := range t.Fields {
		m["field "+name+"."+f.Name] = f.Type
	}
	return m
}

func compareSets(a, b map[string]string, change func(Sort, string, string)) {
	for _, k := range sortedKeys(a, b) {
		_, inA := a[k]
		_, inB := b[k]
		switch {
		case !inA:
			change(Added, k, "")
		case !inB:
			change(Gone, k, "")
		}
	}
}

// sortedKeys returns the keys of both maps, sorted, each once.
func sortedKeys[V any](a, b map[string]V) []string {
	var out []string
	for k := range a {
		out = append(out, k)
	}
	for k := range b {
		if _, have := a[k]; !have {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

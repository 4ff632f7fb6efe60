package shrink

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ScenarioForms returns smaller forms of a scenario's file: all prose without its details first,
// then without single parts of replies and single steps. Not each of them is a scenario.
func ScenarioForms(file []byte) [][]byte {
	lines := strings.Split(string(file), "\n")
	var out [][]byte
	with := func(changed []string) { out = append(out, []byte(strings.Join(changed, "\n"))) }
	section, texts := "", 0
	plain := slices.Clone(lines)
	for i, l := range lines {
		if name, ok := strings.CutPrefix(l, "-- "); ok {
			section = strings.TrimSuffix(name, " --")
			continue
		}
		switch kind, _, _ := strings.Cut(section, " "); {
		case kind == "model" && l != "":
			reply := jsontext.Value(l)
			parts, _ := partsOf(reply)
			for j := range parts {
				if len(parts) > 1 && !isReplyHead(parts[j].value) {
					changed := slices.Clone(lines)
					changed[i] = string(joinParts(reply, slices.Delete(slices.Clone(parts), j, j+1)))
					with(changed)
				}
			}
			for j := range parts {
				parts[j].value = plainProse(parts[j].value, &texts)
			}
			plain[i] = string(joinParts(reply, parts))
			with(slices.Delete(slices.Clone(lines), i, i+1))
		case kind == "client" && l != "", kind == "scenario" && strings.HasPrefix(l, "hidden:"):
			with(slices.Delete(slices.Clone(lines), i, i+1))
		}
	}
	return append([][]byte{[]byte(strings.Join(plain, "\n"))}, out...)
}

// isReplyHead reports whether a part of a reply says when it is given.
func isReplyHead(part jsontext.Value) bool {
	return strings.HasPrefix(string(part), `{"on":`) || strings.HasPrefix(string(part), `{"retry":`)
}

// plainProse returns a text or reasoning in one plain delta; any other part unchanged. texts
// counts them: no two are equal, or the checks of texts could not tell them apart.
func plainProse(part jsontext.Value, texts *int) jsontext.Value {
	for _, kind := range []string{"text", "think"} {
		if strings.HasPrefix(string(part), `{"`+kind+`":[`) {
			*texts++
			return jsontext.Value(fmt.Sprintf(`{%q:["so %s."]}`, kind, Letters(*texts)))
		}
	}
	return part
}

// Letters returns the letters of a number from 0: a to z, then ba to zz, and so on. Prose with
// digits would look like an id.
func Letters(n int) string {
	last := string(rune('a' + n%26))
	if n < 26 {
		return last
	}
	return Letters(n/26) + last
}

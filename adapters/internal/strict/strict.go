// Package strict reads JSON that people and other programs write by hand: a member that is not
// known is an error, so that a misspelt one is not ignored.
package strict

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/pmezard/go-difflib/difflib"
)

// Unmarshal decodes b into v. The error for an unknown member has its path, such as
// params.efort, and the known member of that object that is most like it.
func Unmarshal(b []byte, v any) error {
	err := json.Unmarshal(b, v, json.RejectUnknownMembers(true))
	unknown, is := errors.AsType[*json.SemanticError](err)
	if !is || !errors.Is(err, json.ErrUnknownName) {
		return err
	}
	var path []string
	for token := range unknown.JSONPointer.Tokens() {
		path = append(path, token)
	}
	text := strings.Join(path, ".") + ": there is no such member"
	if near := nearest(path[len(path)-1], memberNames(unknown.GoType)); near != "" {
		text += fmt.Sprintf("; the nearest is %q", near)
	}
	return errors.New(text)
}

// memberNames returns the names of the members of a struct.
func memberNames(t reflect.Type) (out []string) {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}

// nearest returns the name that is most like another one, or "" if none is.
func nearest(to string, names []string) string {
	best, most := "", 0.5
	letters := func(s string) []string { return strings.Split(strings.ToLower(s), "") }
	for _, name := range names {
		if like := difflib.NewMatcher(letters(to), letters(name)).Ratio(); like > most {
			best, most = name, like
		}
	}
	return best
}

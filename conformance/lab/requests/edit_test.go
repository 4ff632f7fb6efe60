package requests

import (
	"slices"
	"testing"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/refusal"
)

// TestEditsOverHTTP changes of a request over HTTP what the server gets, and nothing else.
func TestEditsOverHTTP(t *testing.T) {
	other := []refusal.Edit{refusal.EditOther}
	for fact, want := range map[string][]refusal.Edit{
		"POST/session":                             nil,
		"POST/session id":                          nil,
		"POST/session method":                      other,
		"POST/session path":                        other,
		"POST/session/{session}/fork path.session": {refusal.EditEmpty, refusal.EditOther, refusal.EditUnknown},
		"POST/session body":                        {refusal.EditLeftOut, refusal.EditNull, refusal.EditType, refusal.EditEmpty, refusal.EditOther, refusal.EditUnknown},
	} {
		if got := edits(fact, "string", true); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", fact, got, want)
		}
	}
	all := []string{"GET/event", "abort", "abort id", "argv --port", "env HOME"}
	if got, want := ofRuntime(slices.Clone(all)), []string{"GET/event", "argv --port", "env HOME"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := ofRuntime([]string{"abort", "prompt id"}); len(got) != 2 {
		t.Errorf("without HTTP all are the runtime's, but %v are", got)
	}
}

// TestGivenIDs takes a text for an id of the runtime if the runtime wrote it first.
func TestGivenIDs(t *testing.T) {
	line := func(dir fixtures.Dir, text string) fixtures.WireLine {
		return fixtures.WireLine{Dir: dir, Bytes: []byte(text)}
	}
	given := givenIDs(wireOf(
		line(fixtures.In, `{"chosen":"01900000-0000-7000-8000-000000000001"}`),
		line(fixtures.Out, `{"id":"ses_0123456789","mode":"default","of":"01900000-0000-7000-8000-000000000001"}`),
		line(fixtures.In, `{"path":"/session/ses_0123456789/abort"}`),
	))
	for text, want := range map[string]bool{
		"ses_0123456789": true, "default": false, "ses_9876543210": false, "01900000-0000-7000-8000-000000000001": false,
	} {
		if got := given(text); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
	for id, want := range map[string]string{"ses_0123456789": "ses_0123456780", "ses_0123456780": "ses_0123456781"} {
		if got := unknownID(id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

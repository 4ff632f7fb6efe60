package tool

import "testing"

// TestPlainText separates lists of texts, as older runtimes send a result, from results that
// are lists themselves.
func TestPlainText(t *testing.T) {
	for reported, want := range map[string]string{
		`two birds`: `two birds`,
		`[{"type":"input_text","text":"two"},{"type":"input_text","text":"birds"}]`: "two\nbirds",
		`[]`:             `[]`,
		`[{"bird":"a"}]`: `[{"bird":"a"}]`,
	} {
		if got := plainText(reported); got != want {
			t.Errorf("plainText(%s) = %q, want %q", reported, got, want)
		}
	}
}

package turn

import "testing"

func TestHoldsFile(t *testing.T) {
	file := []byte("the Nile/Fluß") // dGhlIE5pbGUvRmx1w58=
	for message, want := range map[string]bool{
		`{"source": {"data": "dGhlIE5pbGUvRmx1w58="}}`:                          true,
		`{"url" : "data:text/plain;charset=utf-8;base64,dGhlIE5pbGUvRmx1w58="}`: true,
		`{"text":"the Nile\/Flu\u00df"}`:                                        true,
		`{"path":"/work/the%20rivers.txt"}`:                                     true,
		`["@/work/the rivers.txt"]`:                                             true,
		`{"text":"data:text/plain;base64,dGhlIE5pbGUvRmx1w58="}`:                false,
		`{"uri":"data:text/plain;base64,dGhlIE5pbGUvRmx1w58="}`:                 false,
		`{"text":"What is in rivers.txt?"}`:                                     false,
		`the Nile/Fluß`:                                                         false,
	} {
		if got := holdsFile([]byte(message), "the rivers.txt", file, true); got != want {
			t.Errorf("%s: %v, want %v", message, got, want)
		}
	}
	if holdsFile([]byte(`["/work/the rivers.txt"]`), "the rivers.txt", file, false) {
		t.Error("a path is a file although the scenario sends the bytes")
	}
}

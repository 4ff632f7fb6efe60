package strict_test

import (
	"testing"

	"github.com/turnspec/turnspec/adapters/internal/strict"
)

type inner struct {
	Effort string `json:"effort"`
}

type outer struct {
	inner
	Params struct {
		inner
		List []inner `json:"list"`
	} `json:"params"`
}

func TestUnmarshal(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"effort":"high","params":{"effort":"low","list":[{"effort":"x"}]}}`: "",
		`{"parms":{}}`:                                 `parms: there is no such member; the nearest is "params"`,
		`{"params":{"efort":"high"}}`:                  `params.efort: there is no such member; the nearest is "effort"`,
		`{"params":{"list":[{},{"zzz":1}]}}`:           `params.list.1.zzz: there is no such member`,
		`{"Effort":"high"}`:                            `Effort: there is no such member; the nearest is "effort"`,
		`{"params":{"list":[{"effort":"x","eff":1}]}}`: `params.list.0.eff: there is no such member; the nearest is "effort"`,
	} {
		var v outer
		got := ""
		if err := strict.Unmarshal([]byte(body), &v); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	var v outer
	if err := strict.Unmarshal([]byte(`{"params":3}`), &v); err == nil {
		t.Error("a value of another type is no error")
	}
}

package requests

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/turnspec/turnspec/fixtures/refusal"
)

// TestConfirm asks again what may depend on how busy the machine is.
func TestConfirm(t *testing.T) {
	const none, silent, differs, refuses = refusal.EffectNone, refusal.EffectSilent, refusal.EffectDiffers, refusal.EffectRefuses
	for name, c := range map[string]struct {
		effects []refusal.Effect // of each time that it is asked
		want    refusal.Effect
	}{
		"nothing else":            {[]refusal.Effect{none}, none},
		"a refusal":               {[]refusal.Effect{refuses}, refuses},
		"silent twice":            {[]refusal.Effect{silent, silent}, silent},
		"silent by chance":        {[]refusal.Effect{silent, none}, none},
		"something else, twice":   {[]refusal.Effect{differs, differs}, differs},
		"something else, once":    {[]refusal.Effect{differs, none}, none},
		"a refusal, cut at first": {[]refusal.Effect{silent, refuses}, refuses},
		"silent, something else":  {[]refusal.Effect{silent, differs, differs}, differs},
		"something else, silent":  {[]refusal.Effect{differs, silent, none}, none},
	} {
		var limits []time.Duration
		got, err := confirm(time.Second, func(limit time.Duration) (refusal.Outcome, error) {
			limits = append(limits, limit)
			return refusal.Outcome{Effect: c.effects[len(limits)-1]}, nil
		})
		want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}[:len(c.effects)]
		if err != nil || got.Effect != c.want || !slices.Equal(limits, want) {
			t.Errorf("%s: %s, %v, within %v; want %s, within %v", name, got.Effect, err, limits, c.want, want)
		}
	}
	failed := errors.New("no namespace")
	if _, err := confirm(time.Second, func(time.Duration) (refusal.Outcome, error) { return refusal.Outcome{}, failed }); !errors.Is(err, failed) {
		t.Errorf("an error is lost: %v", err)
	}
}

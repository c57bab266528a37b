package state

import (
	"maps"
	"slices"
	"testing"

	"seine/pkg/messages"
)

func TestEffects_EveryClass_HasOne(t *testing.T) {
	if got, want := slices.Sorted(maps.Keys(effects)), messages.Classes(); !slices.Equal(got, want) {
		t.Errorf("effects of %v, want of %v", got, want)
	}
	for class, e := range effects {
		if (e.url == excludeURL) != (e.reason != "") {
			t.Errorf("%s: reason %q does not fit its effect", class, e.reason)
		}
	}
}

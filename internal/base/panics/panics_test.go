package panics

import (
	"errors"
	"testing"
)

func TestCatch(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	for name, c := range map[string]struct {
		do    func() (int, error)
		want  int
		err   string
		stack bool
	}{
		"value": {func() (int, error) { return 1, nil }, 1, "", false},
		"error": {func() (int, error) { return 0, bad }, 0, "bad", false},
		"panic": {func() (int, error) { panic("broken") }, 0, "internal error, please report it: panic: broken", true},
	} {
		got, err := Catch(c.do)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != c.want || text != c.err || (Stack(err) != nil) != c.stack {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
}

package process

import (
	"errors"
	"testing"
)

// The systemd journal reads the level at the beginning of a line, and adds the time itself.
func TestLogger_Journal_LinesBeginWithTheirLevel(t *testing.T) {
	var out lockedBuffer
	log := Logging{LogLevel: "debug", LogFormat: "journal"}.Logger(&out).With("stage", "fetcher")
	log.Debug("fetched", "took", "1s")
	log.Info("drained")
	log.WithGroup("of").Warn("trouble", "level", "high", "text", "two\nlines")
	log.Error("cannot go on", "error", errors.New("no"))
	const want = `<7>msg=fetched stage=fetcher took=1s
<6>msg=drained stage=fetcher
<4>msg=trouble stage=fetcher of.level=high of.text="two\nlines"
<3>msg="cannot go on" stage=fetcher error=no
`
	if got := out.String(); got != want {
		t.Errorf("it wrote\n%s, want\n%s", got, want)
	}
}

func TestLogger_Journal_KeepsToTheLevel(t *testing.T) {
	var out lockedBuffer
	log := Logging{LogLevel: "warn", LogFormat: "journal"}.Logger(&out)
	log.Info("drained")
	log.Warn("trouble")
	if got := out.String(); got != "<4>msg=trouble\n" {
		t.Errorf("it wrote %q", got)
	}
}

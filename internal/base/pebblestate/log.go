package pebblestate

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/cockroachdb/pebble/v2"
)

// Logger returns a logger for Pebble that passes on errors only. what names the store.
func Logger(what string, log *slog.Logger) pebble.Logger { return logger{what, log} }

type logger struct {
	what string
	log  *slog.Logger
}

// Infof implements pebble.Logger.
func (logger) Infof(string, ...any) {}

// Errorf implements pebble.Logger.
func (l logger) Errorf(format string, a ...any) {
	l.log.Error("the database reports an error", "of", l.what, "error", fmt.Sprintf(format, a...))
}

// Fatalf implements pebble.Logger. Pebble calls it if it cannot continue, for example on a full
// disk. Committed data is safe, and the streams hold the rest.
func (l logger) Fatalf(format string, a ...any) {
	l.log.Error("the store has failed, stopping", "of", l.what, "error", fmt.Sprintf(format, a...))
	os.Exit(1)
}

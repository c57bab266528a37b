package pebblestate

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/cockroachdb/pebble/v2"
)

// Logger passes on what is worth a person's time. What says which store it is.
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

// Fatalf implements pebble.Logger. Pebble calls it when it cannot continue, as with a
// full disk. What is committed is safe, and the streams have the rest.
func (l logger) Fatalf(format string, a ...any) {
	l.log.Error("the store has failed, stopping", "of", l.what, "error", fmt.Sprintf(format, a...))
	os.Exit(1)
}

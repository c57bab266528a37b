// Package pebblestate has the common parts of state directories with a Pebble store.
package pebblestate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nuid"
)

// Identity reads the identity of a state directory, or creates it. It never changes.
func Identity(dir string) (string, error) {
	file := filepath.Join(dir, "IDENTITY")
	text, err := os.ReadFile(file)
	if id := strings.TrimSpace(string(text)); err == nil && id != "" {
		return id, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read identity: %w", err)
	}
	id := nuid.Next()
	if err := os.WriteFile(file, []byte(id+"\n"), 0o644); err != nil {
		return "", fmt.Errorf("write identity: %w", err)
	}
	return id, nil
}

package chromium

import (
	"errors"
	"fmt"
	"os/exec"
)

// ErrNone is returned if no browser is installed.
var ErrNone = errors.New("no Chromium found: install it (on Debian: apt-get install chromium-headless-shell), or name one with --browser PATH")

// names are the executables of the Chromium family that may be on the PATH. The headless shell is
// Chromium without windows: it renders the same, and takes half the CPU and two thirds of the
// memory (docs/benchmarks.md, Rendering).
var names = []string{
	"chromium-headless-shell", "chrome-headless-shell", "headless_shell",
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge",
}

// Find returns the path of the requested browser or, if path is "", of the first one on the PATH.
// It returns ErrNone if there is none, and an error with the path if that is not executable.
func Find(path string) (string, error) {
	if path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("browser %s: %w", path, errors.Unwrap(err))
		}
		return found, nil
	}
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	return "", ErrNone
}

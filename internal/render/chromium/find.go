package chromium

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// ErrNone is returned where there is no browser.
var ErrNone = errors.New("there is no Chromium on this machine: install it (on Debian and Ubuntu: apt-get install chromium), or name one with --browser PATH")

// names are those under which a browser of the Chromium family may be on the PATH.
var names = []string{"chromium", "chromium-browser", "chromium-headless-shell", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge"}

// Find returns the path of a browser: the one that is asked for, or, where path is "", the first on the PATH. It returns
// ErrNone if there is none, and an error that names the path if that is no program.
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

// Version returns what a browser says of itself, such as "Chromium 140.0.7339.16".
func Version(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output() //nolint:gosec // the path is the user's to choose
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", path, err)
	}
	text, _, _ := strings.Cut(strings.TrimSpace(string(out)), " built on ")
	return text, nil
}

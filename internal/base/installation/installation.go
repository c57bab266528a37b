// Package installation binds a state directory to an installation.
package installation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"seine/internal/base/humanize"
)

// ID identifies an installation: the streams and buckets of one account. It stays the same for
// their lifetime, and in backups.
type ID struct {
	Name       string // "" for none
	Partitions int
}

// ErrOther is returned for the state of a different installation.
var ErrOther = errors.New("another installation")

// Of returns the installation of a state directory.
func Of(dir string) (id ID, err error) {
	text, err := os.ReadFile(file(dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return id, fmt.Errorf("read the installation of --state %s: %w", dir, err)
	}
	_, _ = fmt.Sscan(string(text), &id.Name, &id.Partitions) // a crash may have left an empty file
	return id, nil
}

// Check returns ErrOther if a state directory belongs to a different installation than the server,
// unless adopt is set.
func Check(dir string, server ID, adopt bool) error {
	state, err := Of(dir)
	switch {
	case err != nil || state.Name == "" || state.Name == server.Name:
		return err
	case !adopt && server.Name == "":
		return fmt.Errorf("--state %s is of %w (%s): the server has no streams of Seine; connect to the server of that installation (--nats), restore a backup of it (seine restore), "+
			"name another --state (of seine crawl: --data), or give --adopt once to begin a new installation with this state", dir, ErrOther, state.Name)
	case !adopt:
		return fmt.Errorf("--state %s is of %w (%s) than the streams at the server (%s): connect to the server of that installation (--nats), "+
			"name another --state (of seine crawl: --data), or give --adopt once to continue here with this state", dir, ErrOther, state.Name, server.Name)
	case state.Partitions != server.Partitions:
		return fmt.Errorf("--adopt: --state %s is of %w (%s), with %s, and the streams have %d: name another --state", dir, ErrOther, state.Name, humanize.Plural(state.Partitions, "partition"), server.Partitions)
	}
	return nil
}

// Bind is like Check, and binds the directory to the installation of the server.
func Bind(dir string, server ID, adopt bool) error {
	if err := Check(dir, server, adopt); err != nil {
		return err
	}
	if state, err := Of(dir); err != nil || state == server {
		return err
	}
	if err := os.WriteFile(file(dir), fmt.Appendln(nil, server.Name, server.Partitions), 0o644); err != nil {
		return fmt.Errorf("note the installation of --state %s: %w", dir, err)
	}
	return nil
}

func file(dir string) string { return filepath.Join(dir, "INSTALLATION") }

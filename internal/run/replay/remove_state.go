package replay

import (
	"fmt"
	"os"
)

// leaveNothing removes the state of a replay that this run began, if it failed before it stored a
// record. The same command then starts it again.
func (r *replay) leaveNothing() error {
	if !r.begun {
		return nil
	}
	if err := remove(r.State); err != nil {
		return err
	}
	if err := os.Remove(planFile(r.State)); err != nil {
		return fmt.Errorf("--state %s: remove files of the ended replay: %w", r.State, err)
	}
	_ = os.Remove(r.State) // fails if the directory is not empty
	return nil
}

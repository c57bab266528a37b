package replay

import (
	"fmt"
	"os"
)

// leaveNothing removes the state of a replay that this run has begun, if it was refused before it
// has made any record: the same command begins it again.
func (r *replay) leaveNothing() error {
	if !r.begun {
		return nil
	}
	if err := remove(r.State); err != nil {
		return err
	}
	if err := os.Remove(planFile(r.State)); err != nil {
		return fmt.Errorf("--state %s: remove what is needed no longer: %w", r.State, err)
	}
	_ = os.Remove(r.State) // unless it has something else
	return nil
}

package output

// Hook is called after each step of a commit, so that tests can stop there. It may be nil.
type Hook func(step string) error

// At calls the hook if it is not nil.
func (h Hook) At(step string) error {
	if h == nil {
		return nil
	}
	return h(step)
}

// Steps of a commit, in order.
const (
	StepWrite        = "write"         // bytes of a chunk are about to be written
	StepAppended     = "appended"      // a record was given to the encoder
	StepSynced       = "chunk synced"  // with its temporary name
	StepRenamed      = "chunk renamed" // to its final name
	StepFinished     = "chunk finished"
	StepEntrySynced  = "entry synced"  // with its temporary name
	StepEntryRenamed = "entry renamed" // to its final name: committed
	StepCommitted    = "committed"
	StepAcked        = "acked"
	StepIndexed      = "indexed"
	StepRemoved      = "merged file removed" // after the merge was committed
)

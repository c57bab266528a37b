package replay

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"seine/internal/base/atomicfile"
	"seine/pkg/stages/writer"
)

// jobState is what a replay is, decided when it is begun and kept in its state
// directory: the same command continues with it, and another is refused.
type jobState struct {
	V      int    `json:"v"`
	About  string `json:"about"`  // in words
	Digest string `json:"digest"` // of all that was asked for
	seqRange
	// Generation is the name under which records go back to the crawl, if they do.
	Generation string `json:"generation,omitempty"`
	// Era is that of the cluster when it began: a restored one may lack records that went back.
	Era   uint64    `json:"era,omitempty"`
	Began time.Time `json:"began"`
	// Report is how it ended, once it is complete.
	Report *Report `json:"report,omitempty"`
}

const planVersion = 1

// ErrOther is returned when a state directory has another replay than the one
// that was asked for.
var ErrOther = errors.New("holds another replay")

func planFile(state string) string { return filepath.Join(state, "replay.json") }

// digest identifies the arguments.
func (o *Options) digest() string {
	asked := struct {
		Stream string
		Choice Selection
		Spec   string
		Text   int64
		Links  int
		Into   bool
		Name   string
		Place  *writer.OutputConfig
	}{Stream: o.Stream, Choice: o.Choice, Text: int64(o.Parser.MaxText), Links: o.Parser.MaxLinks, Into: o.Writer == nil, Name: o.Generation}
	if o.Spec != nil {
		asked.Spec = string(o.Spec.Encode())
	}
	if o.Writer != nil {
		asked.Place = &o.Writer.OutputConfig
	}
	text, err := json.Marshal(asked)
	if err != nil {
		panic(err) // of texts and numbers
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// about says in words what was asked for, without secrets.
func (o *Options) about() string {
	to := "the records of the crawl"
	if o.Writer != nil {
		to = writer.Redact(o.Writer.Out)
	}
	spec := ""
	if o.Spec != nil {
		spec = " by another spec"
	}
	return fmt.Sprintf("%s (%s)%s to %s", kinds[o.Stream][0], &o.Choice, spec, to)
}

// readJobState returns the plan in a state directory, nil if there is none.
func readJobState(state string) (*jobState, error) {
	var p jobState
	err := atomicfile.ReadJSON(planFile(state), &p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && p.V != planVersion {
		err = fmt.Errorf("v is %d, this build reads %d", p.V, planVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("--state %s: read the plan of the replay: %w", state, err)
	}
	return &p, nil
}

// write keeps the plan.
func (p *jobState) write(state string) error {
	if err := atomicfile.WriteJSON(planFile(state), p); err != nil {
		return fmt.Errorf("--state %s: write the plan of the replay: %w", state, err)
	}
	return nil
}

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

// jobState is the plan of a replay, made at its start and stored in its state directory. The same
// command continues the plan; a different command is refused.
type jobState struct {
	V      int    `json:"v"`
	About  string `json:"about"`  // description for error messages
	Digest string `json:"digest"` // of all options
	seqRange
	// Generation is the generation of records that go back to the crawl, "" if they do not.
	Generation string `json:"generation,omitempty"`
	// Era is the era of the cluster at the start. A restored cluster may lack records that went
	// back.
	Era   uint64    `json:"era,omitempty"`
	Began time.Time `json:"began"`
	// Report is the result of a complete replay.
	Report *Report `json:"report,omitempty"`
}

const planVersion = 1

// ErrOther is returned if a state directory belongs to a different replay.
var ErrOther = errors.New("holds another replay")

func planFile(state string) string { return filepath.Join(state, "replay.json") }

// digest identifies the options.
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
		panic(err) // cannot fail: only strings and numbers
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// about describes the options, without secrets.
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

// readJobState reads the plan in a state directory. It returns nil if there is none.
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

// write stores the plan.
func (p *jobState) write(state string) error {
	if err := atomicfile.WriteJSON(planFile(state), p); err != nil {
		return fmt.Errorf("--state %s: write the plan of the replay: %w", state, err)
	}
	return nil
}

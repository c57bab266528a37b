package messages

import (
	"fmt"
	"strings"

	"seine/internal/base/truncate"
)

// Limits of the wire format. A decoder refuses values that exceed them.
const (
	// MaxBatchURLs is how many candidates one URLS message may carry. A page
	// with more links is split over several messages.
	MaxBatchURLs = 2000
	// MaxText bounds free text in a message (an error, a reason), in bytes.
	MaxText = 1024
	// InlineBody is the largest body in a PAGES message itself, in bytes after compression. NATS
	// refuses messages over 1 MiB by default, and the header must fit beside the body. Larger
	// bodies go to the object store.
	InlineBody = 768 << 10
	// MaxPriority is the last of the priorities 0 (first) to 9.
	MaxPriority = 9
	// DefaultPriority is the priority of a URL without another one.
	DefaultPriority = 5
)

// Inline returns the largest inline body for a server's max_payload: InlineBody, or three quarters
// of maxPayload if that is less.
func Inline(maxPayload int64) int { return int(min(InlineBody, maxPayload/4*3)) }

// Clip makes s valid UTF-8 of at most MaxText bytes, as encoded in JSON.
func Clip(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= MaxText {
		return s
	}
	return truncate.To(s, MaxText-len("…")) + "…"
}

func checkText(field, s string) error {
	if len(s) > MaxText {
		return fmt.Errorf("%s has %d bytes: at most %d", field, len(s), MaxText)
	}
	return nil
}

func checkDepth(depth int) error {
	if depth < 0 || depth > MaxDepth {
		return fmt.Errorf("depth %d: must be from 0 to %d", depth, MaxDepth)
	}
	return nil
}

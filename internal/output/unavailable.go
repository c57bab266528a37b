package output

import (
	"errors"
	"io"
	"net"
)

// ErrAway is wrapped by errors of a destination that does not answer now, but may soon. Uncommitted
// messages stay in the stream.
var ErrAway = errors.New("cannot be reached")

// IsCut reports whether an error says that a connection could not be made, ended within a response,
// or took too long.
func IsCut(err error) bool {
	_, cut := errors.AsType[net.Error](err)
	return cut || errors.Is(err, io.ErrUnexpectedEOF)
}

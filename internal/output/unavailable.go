package output

import (
	"errors"
	"io"
	"net"
)

// ErrAway is in the error of a place that does not answer, and may soon. What is not
// committed stays in the stream.
var ErrAway = errors.New("cannot be reached")

// IsCut reports whether an error is of a connection that could not be made, ended in the
// middle of an answer, or took too long.
func IsCut(err error) bool {
	_, cut := errors.AsType[net.Error](err)
	return cut || errors.Is(err, io.ErrUnexpectedEOF)
}

package extract

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"seine/internal/page/document"
)

// A parent and its worker exchange frames: a byte for the kind, four for the length, and so many of payload.
const (
	frameRequest = 'q' // frames of the kinds below
	frameProgram = 'p' // of the evaluations that begin from now on: a jq program
	frameValue   = 'v' // of the evaluations that begin from now on: JSON
	frameBegin   = 'b' // begins an evaluation within so many others (a byte)
	frameNext    = 'n' // asks for results of the evaluation within so many others (a byte): so many (a byte)

	// Answers to frameNext: results, and a frame of another kind.
	frameResult = 'r' // JSON
	frameMore   = 'm' // there may be more
	frameEnd    = 'e' // there are no more
	frameFailed = 'f' // the program failed: its error
	frameBound  = 'x' // a result exceeds a bound: which
)

// frameHead is the length of what is before a payload.
const frameHead = 5

// maxAsked is how many results are asked for at once.
const maxAsked = 255

const (
	// maxRequest is the longest request: JSON may write a byte as six.
	maxRequest = 6*maxValue + 64<<20
	// maxResult is the longest result.
	maxResult = document.MaxData
)

func appendFrame(b []byte, kind byte, payload ...byte) []byte {
	b = binary.BigEndian.AppendUint32(append(b, kind), uint32(len(payload)))
	return append(b, payload...)
}

// endFrame sets the length of a frame that begins at start and whose payload was appended.
func endFrame(b []byte, start int) {
	binary.BigEndian.PutUint32(b[start+1:], uint32(len(b)-start-frameHead))
}

// cutFrame takes the first frame off b, which must be complete.
func cutFrame(b []byte) (kind byte, payload, rest []byte) {
	end := frameHead + int(binary.BigEndian.Uint32(b[1:]))
	return b[0], b[frameHead:end], b[end:]
}

func readFrame(in *bufio.Reader, most uint32) (kind byte, payload []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > most {
		return 0, nil, fmt.Errorf("a frame of %d bytes, at most %d are allowed", size, most)
	}
	payload = make([]byte, size)
	_, err = io.ReadFull(in, payload)
	return head[0], payload, err
}

package messages

import (
	"encoding/hex"
	"strconv"
	"time"

	"seine/internal/base/jsontext"
)

// object appends the members of a message: see jsontext.
type object struct{ jsontext.Object }

func newObject(b []byte) object { return object{jsontext.Object{B: b}} }

func (o *object) visit(k string, v Visit) {
	o.Key(k)
	o.B = append(o.B, '"')
	if !v.IsZero() {
		o.B = hex.AppendEncode(o.B, v.URL[:])
		o.B = strconv.AppendUint(append(o.B, '.'), v.Round, 10)
	}
	o.B = append(o.B, '"')
}

// millisSet leaves out a duration that is zero, not one of less than a millisecond.
func (o *object) millisSet(k string, v Millis) {
	if v != 0 {
		o.Int(k, time.Duration(v).Milliseconds())
	}
}

// versioned is a message that says its schema version.
type versioned[T any] interface {
	*T
	version() int
}

// decode reads a message.
func decode[T any, M versioned[T]](payload []byte) (*T, error) {
	m := new(T)
	if err := jsontext.Unmarshal(payload, m); err != nil {
		return nil, err
	}
	return m, checkVersion(M(m).version())
}

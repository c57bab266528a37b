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
		o.B = strconv.AppendUint(append(o.B, '.'), uint64(v.Round), 10)
	}
	o.B = append(o.B, '"')
}

// reader reads what object appends: see jsontext.
type reader struct{ jsontext.Reader }

func (o *reader) visit(k string, v *Visit) { o.TextValue(k, v.UnmarshalText) }
func (o *reader) uint32(k string, v *uint32) {
	o.Value(k, func(text []byte) error {
		n, err := strconv.ParseUint(string(text), 10, 32)
		*v = uint32(n)
		return err //nolint:wrapcheck // read again by encoding/json, which says what is wrong
	})
}

func (o *reader) millis(k string, v *Millis) bool { return o.Value(k, v.UnmarshalJSON) }

// plain is a message that can be read without encoding/json, if it is written as
// this package writes it.
type plain[T any] interface {
	*T
	readJSON(o *reader)
	version() int
}

// decodePlain is decode for what comes with every page: encoding/json takes four
// times as long (BenchmarkDecode).
func decodePlain[T any, P plain[T]](payload []byte) (*T, error) {
	m := new(T)
	o := reader{jsontext.NewReader(payload)}
	P(m).readJSON(&o)
	if o.Done() {
		return m, checkVersion(P(m).version())
	}
	m = new(T)
	if err := jsontext.Unmarshal(payload, m); err != nil {
		return nil, err
	}
	return m, checkVersion(P(m).version())
}

// millisSet leaves out a duration that is zero, not one of less than a millisecond.
func (o *object) millisSet(k string, v Millis) {
	if v != 0 {
		o.Int(k, time.Duration(v).Milliseconds())
	}
}

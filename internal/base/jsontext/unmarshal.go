package jsontext

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Unmarshal is like json.Unmarshal, but matches names exactly at every depth. encoding/json matches
// "URL" and "Url" to "url", so a field named by a site or a spec could replace one of Seine's.
// Unknown members are ignored; of repeated members, later ones are decoded over earlier ones.
//
// Types with an UnmarshalJSON must call Unmarshal in it.
func Unmarshal(text []byte, v any) error { return json.Unmarshal(text, v, lenient) }

// UnmarshalStrict is like Unmarshal, but returns an error for unknown and for repeated members.
func UnmarshalStrict(text []byte, v any) error { return json.Unmarshal(text, v, strict) }

// IsTypeError reports whether a value has the wrong type for its field. All other values have been
// decoded then.
func IsTypeError(err error) bool {
	_, wrong := errors.AsType[*jsonv1.UnmarshalTypeError](err)
	return wrong
}

// Marshal is like json.Marshal, but does not escape <, > and &.
func Marshal(v any) ([]byte, error) { return json.Marshal(v, plainText) }

// MarshalRecord is Marshal for lines of an output: it formats times as AppendTime does.
func MarshalRecord(v any) ([]byte, error) { return json.Marshal(v, plainText, recordTimes) }

var (
	recordTimes = json.WithMarshalers(json.MarshalToFunc(func(enc *jsontext.Encoder, t time.Time) error {
		return enc.WriteValue(AppendTime(enc.AvailableBuffer(), t))
	}))

	plainText = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false))

	lenient = json.JoinOptions(jsonv1.DefaultOptionsV1(), json.MatchCaseInsensitiveNames(false))
	strict  = json.JoinOptions(lenient, json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(false))
)

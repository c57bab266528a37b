package jsontext

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Unmarshal is json.Unmarshal, but exact about names, at every depth. A member of an
// object is that of a field of a struct only if it has its very name: encoding/json
// takes "URL" and "Url" for "url" too, so a field that a stranger or a spec may name
// would replace one of Seine's. Other members are ignored, and
// of members of one name the later one is read over the earlier.
//
// Types with an UnmarshalJSON must call Unmarshal in it.
func Unmarshal(text []byte, v any) error { return json.Unmarshal(text, v, lenient) }

// UnmarshalStrict is Unmarshal, but returns an error for a member that is no field of
// its struct, and for one that is there twice.
func UnmarshalStrict(text []byte, v any) error { return json.Unmarshal(text, v, strict) }

// IsTypeError reports whether a value is not of the type of its field. All others have been read then.
func IsTypeError(err error) bool {
	_, wrong := errors.AsType[*jsonv1.UnmarshalTypeError](err)
	return wrong
}

// Marshal returns v as encoding/json does, but leaves <, > and & as they are.
func Marshal(v any) ([]byte, error) { return json.Marshal(v, plainText) }

// MarshalRecord is Marshal for what is a line of an output: its times are those of AppendTime.
func MarshalRecord(v any) ([]byte, error) { return json.Marshal(v, plainText, recordTimes) }

var (
	recordTimes = json.WithMarshalers(json.MarshalToFunc(func(enc *jsontext.Encoder, t time.Time) error {
		return enc.WriteValue(AppendTime(enc.AvailableBuffer(), t))
	}))

	plainText = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false))

	lenient = json.JoinOptions(jsonv1.DefaultOptionsV1(), json.MatchCaseInsensitiveNames(false))
	strict  = json.JoinOptions(lenient, json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(false))
)

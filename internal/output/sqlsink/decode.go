package sqlsink

import (
	"encoding/json"
	"reflect"

	"seine/internal/base/jsontext"
)

// decode decodes an object into the struct that v points to. It ignores members whose type does not
// match the field. It returns an error only for invalid JSON.
func decode(data []byte, v any) error {
	err := jsontext.Unmarshal(data, v)
	if !jsontext.IsTypeError(err) {
		return err
	}
	var members map[string]json.RawMessage
	_ = jsontext.Unmarshal(data, &members) // stays empty if data is not an object
	s := reflect.ValueOf(v).Elem()
	for i := range s.NumField() {
		f := s.Field(i)
		f.SetZero() // after a type mismatch, json leaves a pointer to a zero value
		text, ok := members[s.Type().Field(i).Tag.Get("json")]
		if ok && jsontext.Unmarshal(text, f.Addr().Interface()) != nil {
			f.SetZero()
		}
	}
	return nil
}

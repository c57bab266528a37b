package sqlsink

import (
	"encoding/json"
	"reflect"

	"seine/internal/base/jsontext"
)

// decode reads an object into the struct that v points to. What is not of the type of
// its field is as if it were not there. It returns an error only for text that is no
// JSON.
func decode(data []byte, v any) error {
	err := jsontext.Unmarshal(data, v)
	if !jsontext.IsTypeError(err) {
		return err
	}
	var members map[string]json.RawMessage
	_ = jsontext.Unmarshal(data, &members) // stays empty for what is no object
	s := reflect.ValueOf(v).Elem()
	for i := range s.NumField() {
		f := s.Field(i)
		f.SetZero() // json leaves a pointer to nothing where it found something else
		text, ok := members[s.Type().Field(i).Tag.Get("json")]
		if ok && jsontext.Unmarshal(text, f.Addr().Interface()) != nil {
			f.SetZero()
		}
	}
	return nil
}

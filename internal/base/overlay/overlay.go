// Package overlay lays the values of one struct over those of another.
package overlay

import "reflect"

// Set sets the fields of to, a pointer to a struct, that from, a pointer to another, has under the same names: where
// that is a pointer that is not nil to what it points to, and where it is a list to the list, unless it is empty.
func Set(to, from any) {
	t, f := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for i := range f.NumField() {
		value := f.Field(i)
		isSet := value.Kind() == reflect.Pointer && !value.IsNil() || value.Kind() == reflect.Slice && value.Len() > 0
		if !isSet {
			continue
		}
		switch field := t.FieldByName(f.Type().Field(i).Name); {
		case !field.IsValid():
		case field.Type() == value.Type():
			field.Set(value)
		default:
			field.Set(value.Elem())
		}
	}
}

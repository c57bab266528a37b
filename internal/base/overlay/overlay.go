// Package overlay copies the set fields of one struct over those of another.
package overlay

import "reflect"

// Set sets fields of to from the fields of the same names of from. Both are pointers to structs. It
// copies the target of a non-nil pointer, and a list unless it is empty.
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

package overlay

import (
	"reflect"
	"testing"
)

type inner struct{ Deep int }

type all struct {
	inner
	Number int
	Maybe  *int
	List   []string
	Text   string
}

func TestSet(t *testing.T) {
	one, two := 1, 2
	have := all{inner: inner{7}, Number: 7, List: []string{"a"}, Text: "t"}
	Set(&have, &struct {
		Number, Maybe, Deep, Unknown *int
		List                         []string
		Text                         string
	}{Number: new(0), Maybe: &one, Deep: &two, Unknown: &one, Text: "not a pointer"})
	want := all{inner: inner{2}, Number: 0, Maybe: &one, List: []string{"a"}, Text: "t"}
	if !reflect.DeepEqual(have, want) {
		t.Errorf("got %+v, want %+v", have, want)
	}
	Set(&have, &struct{ List []string }{[]string{"b"}})
	if !reflect.DeepEqual(have.List, []string{"b"}) {
		t.Errorf("the list is %q", have.List)
	}
}

package document

import "fmt"

// MaxTree is how much memory a page may become, in bytes: its DOM, its tree of XML
// or its values of JSON. It is counted, not measured: by the sizes of what is made
// on a machine of 64 bits, and a little more. The largest pages there are, of some
// ten megabytes, take half of it.
const MaxTree = 256 << 20

// errTree says of a form that it would take more than MaxTree.
func errTree(what string) error {
	return fmt.Errorf("%w: %s would take more than %d MiB of memory", ErrTooBig, what, MaxTree>>20)
}

// Sizes of what forms are made of, in bytes.
const (
	sizeNode      = 112 // html.Node
	sizeAttribute = 48  // html.Attribute, as clones have it
	sizeRead      = 128 // of one that is read: room for more is kept, and its texts
	sizePending   = 112 // what the tokenizer holds of an attribute besides, until its tag ends

	sizeXML          = 176 // xmlquery.Node and its name
	sizeXMLAttribute = 128 // xmlquery.Attr, its texts, and room for more

	sizeText    = 24  // a string in an interface, besides its bytes
	sizeElement = 24  // an interface in a list that has grown
	sizeMap     = 48  // a map, or a list, in an interface
	sizeGroup   = 288 // what holds up to smallMap members of a map
	sizeMember  = 80  // each member of a larger one
	smallMap    = 8

	copiesOfJSON = 2 // of the text, while it is read
)

// sizeOfMap is what a map of so many members takes, without them.
func sizeOfMap(members int) int {
	switch {
	case members == 0:
		return sizeMap
	case members <= smallMap:
		return sizeMap + sizeGroup
	}
	return sizeMap + members*sizeMember
}

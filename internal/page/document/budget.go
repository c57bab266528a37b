package document

import "fmt"

// MaxTree is the maximum memory of a page's DOM, XML tree or JSON values, in bytes. It is
// calculated rather than measured: from the sizes of objects on a 64-bit machine, with a margin.
// The largest real pages, of some ten megabytes, take half of it.
const MaxTree = 256 << 20

// errTree returns the error for a form that would take more than MaxTree.
func errTree(what string) error {
	return fmt.Errorf("%w: %s would take more than %d MiB of memory", ErrTooBig, what, MaxTree>>20)
}

// Sizes of the parts of forms, in bytes.
const (
	sizeNode      = 112 // html.Node
	sizeAttribute = 48  // html.Attribute in a clone
	sizeRead      = 128 // of an attribute that is read: spare capacity, and its texts
	sizePending   = 112 // further memory of the tokenizer for an attribute, until its tag ends

	sizeXML          = 176 // xmlquery.Node and its name
	sizeXMLAttribute = 128 // xmlquery.Attr, its texts, and spare capacity

	sizeText    = 24  // a string in an interface, without its bytes
	sizeElement = 24  // an interface in a slice that has grown
	sizeMap     = 48  // a map or a slice in an interface
	sizeGroup   = 288 // storage of up to smallMap members of a map
	sizeMember  = 80  // each member of a larger map
	smallMap    = 8

	copiesOfJSON = 2 // copies of the text while it is read
)

// sizeOfMap returns the memory of a map with this number of members, without the members' values.
func sizeOfMap(members int) int {
	switch {
	case members == 0:
		return sizeMap
	case members <= smallMap:
		return sizeMap + sizeGroup
	}
	return sizeMap + members*sizeMember
}

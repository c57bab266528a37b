package speccompletion

import (
	"slices"
	"strings"
)

// collection is one that is open where the text is read.
type collection struct {
	list   bool
	flow   bool    // in braces or brackets
	indent int     // column of its keys or dashes, if it is not in brackets
	schema *schema // of the collection, nil where nothing is known

	set    map[string]bool // keys that are there and known
	key    string          // the last one
	colon  bool            // of a mapping in braces: the key has its colon
	filled bool            // the last key, or member of the list, has its value
	end    int             // where in the line the value ended that is filled, 0 if it may go on
	json   bool            // keys are in double quotes
}

// maxDepth is how many collections may be open: rules need about ten.
const maxDepth = 100

// reader reads a text from its beginning, until the collections around the cursor have ended.
type reader struct {
	root       *schema
	open       []*collection
	rootFilled bool
	quote      byte // of a text that goes on from the line before, 0 for none
	block      bool // a block of text goes on, after | or >
	full       bool // too much is open: nothing is read any more

	cursorLine, cursor int // line, and byte of it
	here               bool
	found              *place
}

func (r *reader) read(lines []string) {
	for i, line := range lines {
		if r.here = i == r.cursorLine; r.full {
			return
		}
		r.line(line)
		if i >= r.cursorLine && !r.hasMore() {
			return
		}
	}
}

// hasMore reports whether more of the text, behind the cursor, has to do with what was found: keys that are set.
func (r *reader) hasMore() bool {
	f := r.found
	return f != nil && (f.awaits || f.in != nil && slices.Contains(r.open, f.in))
}

// line reads one.
func (r *reader) line(text string) {
	indent := indentOf(text)
	blank := indent == len(text)
	switch {
	case strings.HasPrefix(text, "---") || text == "...":
		r.open, r.rootFilled, r.quote, r.block = nil, false, 0, false
		return
	case r.block && (blank && !(r.here && r.cursor <= r.base()) || indent > r.base()):
		r.inside()
		return
	case r.quote != 0 && !r.ends(text, indent):
		r.quoted(text)
		return
	}
	r.quote, r.block = 0, false
	if r.inFlow() && (indent > r.base() || !beginsBlock(text, indent)) {
		r.flow(text, indent)
		return
	}
	r.leaveFlow()
	r.content(text, indent)
}

// quoted reads a line that begins within a quoted text.
func (r *reader) quoted(text string) {
	end := closing(text, 0, r.quote)
	if end < 0 || r.here && r.cursor <= end {
		r.inside()
	}
	if end < 0 {
		return
	}
	if r.quote = 0; r.inFlow() {
		r.flow(text, end)
	}
}

// ends reports whether a line cannot go on with the quoted text of the line before: somebody has forgotten its end.
func (r *reader) ends(text string, indent int) bool {
	if indent == len(text) {
		return false
	}
	if r.inFlow() {
		return strings.IndexByte(`"'}]`, text[indent]) >= 0 || indent <= r.base() && beginsBlock(text, indent)
	}
	return indent <= r.base()
}

// top is the innermost collection, nil outside of all.
func (r *reader) top() *collection {
	if len(r.open) == 0 {
		return nil
	}
	return r.open[len(r.open)-1]
}

func (r *reader) inFlow() bool { t := r.top(); return t != nil && t.flow }

// base is the indentation of the innermost collection that is not in brackets, -1 outside of all.
func (r *reader) base() int {
	for i := len(r.open) - 1; i >= 0; i-- {
		if !r.open[i].flow {
			return r.open[i].indent
		}
	}
	return -1
}

// slot is the schema of the value that is missing: of the last key, or of the next member of a list.
func (r *reader) slot() *schema {
	switch t := r.top(); {
	case t == nil && r.rootFilled, t != nil && t.filled:
		return nil
	case t == nil:
		return r.root
	case t.list:
		return t.schema.items()
	case t.key == "" || t.flow && !t.colon:
		return nil
	default:
		return t.schema.member(t.key)
	}
}

// fill notes that there is a value.
func (r *reader) fill() {
	if t := r.top(); t != nil {
		t.filled = true
	} else {
		r.rootFilled = true
	}
}

// push opens a collection as the value that is missing.
func (r *reader) push(c *collection) {
	if len(r.open) == maxDepth {
		r.full, r.found = true, nil
		return
	}
	if c.schema = r.slot(); c.schema != nil && r.top() != nil {
		c.json = r.top().json
	}
	r.fill()
	if f := r.found; f != nil && f.awaits && f.depth == len(r.open) && !c.list {
		f.in = c
	}
	r.open = append(r.open, c)
}

func (r *reader) pop() { r.open = r.open[:len(r.open)-1] }

// leaveFlow ends brackets that nobody has closed.
func (r *reader) leaveFlow() {
	for r.inFlow() {
		r.pop()
	}
}

// addKey notes a key of the innermost mapping, whose value comes next. One that has the cursor in it is not set yet.
func (r *reader) addKey(name string, here bool) {
	t := r.top()
	t.key, t.filled, t.colon = name, false, false
	if r.found != nil {
		r.found.awaits = false
	}
	if o := t.schema.object(); o != nil && o.Properties[name] != nil && !here {
		if t.set == nil {
			t.set = make(map[string]bool)
		}
		t.set[name] = true
	}
}

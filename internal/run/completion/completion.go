// Package completion completes the command lines of kong's commands in bash, zsh and fish. The
// shell scripts call the command itself, so they never become outdated. (Of the available
// libraries, two are not on the module proxy and the third has been stalled since 2022.)
package completion

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Kind is a source of completions in addition to Answer.Words.
type Kind string

// Kinds.
const (
	Words  Kind = "words"  // no other source
	Files  Kind = "files"  // names of files and directories
	Crawls Kind = "crawls" // names of crawls, which the caller must look up
)

// Word is a completion and its description.
type Word struct{ Text, About string }

// Answer is the result of a completion.
type Answer struct {
	Kind  Kind
	Words []Word
}

// Complete returns completions for the last of words, which may be empty. The others are the
// preceding words of the command line, without the command's name.
func Complete(app *kong.Node, words []string) Answer {
	if len(words) == 0 {
		words = []string{""}
	}
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "=" }) // bash splits words there
	last := words[len(words)-1]
	node, flag := walk(app, words[:len(words)-1])
	var a Answer
	switch name, value, cut := strings.Cut(last, "="); {
	case flag != nil:
		a = values(flag.Value, last)
	case cut && strings.HasPrefix(name, "-"):
		if f := find(node, name); f != nil {
			a = values(f.Value, value)
			for i := range a.Words {
				a.Words[i].Text = name + "=" + a.Words[i].Text
			}
		}
	case strings.HasPrefix(last, "-"):
		a.Words = flags(node)
	case node.Leaf():
		a = positional(node, last)
	default:
		for _, c := range node.Children {
			if !c.Hidden {
				a.Words = append(a.Words, Word{c.Name, c.Help})
			}
		}
	}
	a.Words = slices.DeleteFunc(a.Words, func(w Word) bool { return !strings.HasPrefix(w.Text, last) })
	if a.Kind == "" {
		a.Kind = Words
	}
	return a
}

// walk follows words to a command. It returns the flag that still needs its value, nil if none
// does.
func walk(node *kong.Node, words []string) (*kong.Node, *kong.Flag) {
	var open *kong.Flag
	for _, w := range words {
		switch {
		case open != nil:
			open = nil
		case w == "--":
		case strings.HasPrefix(w, "-") && !strings.Contains(w, "="):
			if f := find(node, w); f != nil && !f.IsBool() && !f.IsCounter() {
				open = f
			}
		default:
			if i := slices.IndexFunc(node.Children, func(c *kong.Node) bool { return c.Name == w }); i >= 0 {
				node = node.Children[i]
			}
		}
	}
	return node, open
}

// find returns the flag that word names, nil if it names none.
func find(node *kong.Node, word string) *kong.Flag {
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

func flags(node *kong.Node) (all []Word) {
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			all = append(all, Word{"--" + f.Name, f.Help})
		}
	}
	slices.SortFunc(all, func(a, b Word) int { return strings.Compare(a.Text, b.Text) })
	return all
}

// positional completes a positional argument. All arguments of a command complete alike.
func positional(node *kong.Node, last string) Answer {
	if len(node.Positional) == 0 {
		return Answer{}
	}
	return values(node.Positional[0], last)
}

func values(v *kong.Value, last string) (a Answer) {
	for _, one := range v.EnumSlice() {
		if one != "" && strings.HasPrefix(one, last) {
			a.Words = append(a.Words, Word{Text: one})
		}
	}
	about := strings.ToLower(v.Tag.PlaceHolder + " " + v.Name + " " + v.Help)
	switch {
	case v.Enum != "":
	case v.Name == "crawl", v.Tag.PlaceHolder == "CRAWL":
		a.Kind = Crawls
	case strings.Contains(about, "file"), strings.Contains(about, "director"), strings.HasPrefix(about, "dir "):
		a.Kind = Files
	}
	return a
}

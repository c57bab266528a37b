// Package manpage generates the manual pages of commands from their --help. It reads kong's model
// of a command and writes a page with the man macros, for man-db, mandoc and groff. The output is
// reproducible: the date on a page is that of the source.
package manpage

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"seine/internal/base/version"
	"seine/internal/run/config"
)

// Flag is a flag, best hidden, that prints the manual page of its command and exits.
type Flag bool

// BeforeReset is called by kong at the flag, before kong validates the rest of the command line.
func (Flag) BeforeReset(app *kong.Kong, ctx *kong.Context) error {
	node := ctx.Model.Node
	if selected := ctx.Selected(); selected != nil {
		node = selected
	} else if last := deepest(ctx); last != nil {
		node = last
	}
	if err := Write(app.Stdout, node); err != nil {
		return err
	}
	app.Exit(0)
	return nil
}

// deepest returns the last command on a command line that lacks a subcommand, nil if there is none.
func deepest(ctx *kong.Context) (last *kong.Node) {
	for _, p := range ctx.Path {
		if p.Command != nil {
			last = p.Command
		}
	}
	return last
}

// Write writes the page of a command. It includes subcommands, which have no page of their own;
// only the program and each of its commands has one.
func Write(w io.Writer, node *kong.Node) error {
	b := version.Current()
	p := new(page)
	day, _, _ := strings.Cut(b.Date, "T")
	p.macro("TH", strings.ToUpper(Name(node)), "1", day, "Seine "+b.Version, "Seine")
	p.section("NAME")
	p.line(roff(Name(node)) + ` \- ` + roff(summary(node)))
	p.synopsis(node)
	p.description(node)
	p.arguments(node)
	p.commands(node)
	p.flags("OPTIONS", node)
	p.prose(config.EnvironmentNote)
	p.seeAlso(node)
	_, err := io.WriteString(w, p.text.String())
	if err != nil {
		return fmt.Errorf("write manual page: %w", err)
	}
	return nil
}

// Name returns the name of a page: seine, seine-crawl, seine-fetcher. The names of the stages alone
// could collide with those of other programs.
func Name(node *kong.Node) string {
	if top := root(node); top != node {
		return top.Name + "-" + node.Name
	}
	if node.Name == own || node.Name == "natsusers" {
		return node.Name
	}
	return own + "-" + node.Name
}

const own = "seine"

func root(node *kong.Node) *kong.Node {
	for node.Parent != nil {
		node = node.Parent
	}
	return node
}

// summary returns the first line of a command's help in the form of NAME sections: without a
// period, and in lower case unless it begins with a name.
func summary(node *kong.Node) string {
	text, _, _ := strings.Cut(node.Help, "\n")
	text = strings.TrimSuffix(text, ".")
	if first, rest, found := strings.Cut(text, " "); found && !strings.Contains(first, "'") {
		text = strings.ToLower(first) + " " + rest
	}
	return text
}

func (p *page) synopsis(node *kong.Node) {
	p.section("SYNOPSIS")
	for i, leaf := range leaves(node) {
		if i > 0 {
			p.macro("br")
		}
		line := `\fB` + roff(leaf.FullPath()) + `\fR`
		for _, arg := range leaf.Positional {
			line += ` \fI` + roff(arg.Summary()) + `\fR`
		}
		if len(leaf.Children) > 0 {
			line += ` \fICOMMAND\fR`
		}
		p.line(line + ` [\fIflags\fR]`)
	}
}

// leaves returns the commands that a page describes in full. The page of the program only lists its
// commands.
func leaves(node *kong.Node) []*kong.Node {
	if node.Parent == nil || node.Leaf() {
		return []*kong.Node{node}
	}
	return node.Leaves(true)
}

func (p *page) description(node *kong.Node) {
	p.section("DESCRIPTION")
	p.prose(node.Help)
	if node.Detail != "" {
		p.prose(node.Detail)
	}
}

func (p *page) arguments(node *kong.Node) {
	if len(node.Positional) == 0 {
		return
	}
	p.section("ARGUMENTS")
	for _, arg := range node.Positional {
		p.item(`\fI`+roff(arg.Summary())+`\fR`, config.HelpText(arg))
	}
}

// commands lists the commands of a program, and describes the subcommands of a command.
func (p *page) commands(node *kong.Node) {
	if len(node.Children) == 0 {
		return
	}
	p.section("COMMANDS")
	for _, child := range node.Children {
		if child.Hidden {
			continue
		}
		p.item(`\fB`+roff(child.FullPath())+`\fR`, child.Help)
		if node.Parent == nil {
			continue
		}
		p.macro("RS")
		p.prose(child.Detail)
		p.flagItems(child.Flags)
		p.macro("RE")
	}
}

// flags writes the flags of a command and of its parents.
func (p *page) flags(title string, node *kong.Node) {
	var all []*kong.Flag
	for n := node; n != nil; n = n.Parent {
		all = append(all, n.Flags...)
	}
	p.section(title)
	p.flagItems(all)
}

func (p *page) flagItems(flags []*kong.Flag) {
	for _, flag := range flags {
		if !flag.Hidden {
			p.item(written(flag), config.HelpText(flag.Value))
		}
	}
}

// written returns a flag as a user types it.
func written(flag *kong.Flag) string {
	text := `\fB\-\-` + roff(flag.Name) + `\fR`
	if flag.Short != 0 {
		text = `\fB\-` + roff(string(flag.Short)) + `\fR, ` + text
	}
	if !flag.IsBool() && !flag.IsCounter() {
		text += `=\fI` + roff(flag.FormatPlaceHolder()) + `\fR`
	}
	return text
}

// seeAlso lists related pages: those of a program's commands, or that of the program.
func (p *page) seeAlso(node *kong.Node) {
	var others []string
	if node.Parent != nil || node.Name != own {
		others = append(others, own)
	}
	if node.Parent == nil {
		for _, command := range node.Children {
			if !command.Hidden {
				others = append(others, Name(command))
			}
		}
	}
	p.section("SEE ALSO")
	for i, name := range others {
		end := ","
		if i == len(others)-1 {
			end = ""
		}
		p.macro("BR", name, "(1)"+end)
	}
}

// Package article finds the main content of an HTML page, what a reader came
// for without menus, banners, sidebars and comments, and writes it, or any part
// of a page, as Markdown or as text.
//
// It takes a tree that golang.org/x/net/html made and never changes it: [Options.Main]
// gives a copy of what is to be kept. Any number of calls may share one tree.
//
// How the main content is found, in this order:
//
//  1. What no reader sees is left out: scripts, styles, templates, controls of
//     forms, elements hidden by attribute or inline style. A page with little
//     text is read with the hidden text if that gives it more than
//     twice as much: a script would show it.
//  2. What elements, ARIA roles, and words in class and id say about themselves
//     is believed as long as the page does not consist of it: nav, footer,
//     complementary, "cookie", "breadcrumb". Words are not believed where that
//     leaves little of a page that has much.
//  3. Among what remains, every block is worth the weight of its text outside
//     links less that of its links and a little for being there, so that
//     sentences count for something and menus against it. The element with the
//     largest sum is the main content. The search starts at main or article
//     where the page has one that is worth it.
//  4. In it, groups that are nearly all links go, beside something for sale
//     those that are half links.
//  5. Of a product, the description that JSON-LD has too is the content, if it
//     is a third of that.
//  6. Elements of one class that have most of the text are the content instead:
//     the posts of a thread, without what stands beside each and what they
//     quote of each other, or the entries of a list, with their links, and with
//     the text if both are of one size. Comments below an article are not. A
//     page that has more than three times the text of what was found is an
//     index, and the content is all but the boilerplate.
//
// Measured by bench/article, words of the text: on 34 pages of as many shapes,
// by which the rules were made, a mean F1 of 0.995; on six written afterwards
// 0.957, where go-trafilatura 1.12 has 0.908 and go-readability 0.948, and both
// are many times slower. On the 1,497 pages of the development split of WCXB (a
// benchmark of other people) it has 0.871; docs/benchmarks.md has its kinds of pages. On Zyte's 181 articles, whose truth
// has no titles, it has 0.917, and with Precision 0.967. html-to-markdown 2.5 takes two minutes and 72 GB for 185
// kB of quotes in quotes. Hence neither is used.
//
// Where that leaves next to nothing, step 2 is dropped. A page that has no text even so has no main content.
//
// Everything here takes time linear in the page and is the same each time it is
// done. The bounds are in this file.
package article

// Bounds. A page beyond them has no main content, or its Markdown is shorter
// than it might be; neither is an error.
const (
	// maxNodes is how many nodes of a tree are looked at. The largest pages of
	// the documentation sets measured have 150,000; a page of 30 MB that is all
	// tags has some 10 million, and a table of them costs more than the answer is
	// worth.
	maxNodes = 2_000_000

	// maxDepth is how deep Markdown follows a tree by recursion; below it only
	// text is taken. html.Parse refuses pages beyond 512 open elements.
	maxDepth = 600

	// maxNesting is how many quotes and lists in one another Markdown shows;
	// deeper ones are written at that level. Each costs up to eleven bytes on
	// every line, which a page can make short.
	maxNesting = 16

	// maxMarkdown is how long Markdown may get, in bytes. It ends with the block
	// that reaches it.
	maxMarkdown = 64 << 20

	// maxColumns is how many columns a table of Markdown has. A wider one is
	// written cell by cell.
	maxColumns = 64

	// maxClass is how much of a class or id attribute is read, in bytes.
	maxClass = 512
)

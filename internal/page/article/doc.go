// Package article finds the main content of an HTML page: the text that a reader came for, without
// menus, banners, sidebars and comments. It writes the main content, or any part of a page, as
// Markdown or as text.
//
// It takes a tree made by golang.org/x/net/html and never changes it: [Options.Main] returns a
// copy. Any number of calls may share one tree.
//
// It finds the main content in these steps:
//
//  1. It omits what readers do not see: scripts, styles, templates, form controls, elements
//     hidden by attribute or inline style. It reads a page with little text including the
//     hidden text if that gives more than twice as much: a script would show it.
//  2. It believes elements, ARIA roles, and words in class and id, unless the page consists of
//     nothing else: nav, footer, complementary, "cookie", "breadcrumb". It ignores words if
//     believing them leaves little of a page that has much.
//  3. Among the remaining blocks, each has the weight of its text outside links as its value,
//     less the weight of its links and a small constant, so that sentences count for an element
//     and menus against it. The element with the largest sum is the main content. The search
//     starts at main or article if the page has one with enough text.
//  4. In the main content, it drops groups that are nearly all links, and beside a product
//     those that are half links.
//  5. For a product, the block with the description that is also in JSON-LD is the content, if
//     it has a third of the text found.
//  6. Elements of one class that have most of the text are the content instead: the posts of a
//     thread, without boilerplate and mutual quotes; or the entries of a list, with their
//     links, and with the text if both are of similar size. Comments below an article are not.
//     A page with more than three times the text found is an index, and its content is
//     everything but the boilerplate.
//
// Measured by bench/article in words of the text: on 34 pages of as many layouts, from which the
// rules were made, the mean F1 is 0.995; on six pages written afterwards 0.957. There
// go-trafilatura 1.12 has 0.908 and go-readability 0.948, and both are many times slower. On the
// 1,497 pages of the development split of WCXB (a third-party benchmark) it has 0.871;
// docs/benchmarks.md has the figures by kind of page. On Zyte's 181 articles, whose ground truth
// has no titles, it has 0.917, and with Precision 0.967. html-to-markdown 2.5 takes two minutes and
// 72 GB for 185 kB of nested quotes. So none of them is used.
//
// If next to nothing is left, step 2 is skipped. A page that still has no text has no main content.
//
// All algorithms take linear time and are deterministic. The limits are in this file.
package article

// Limits. A page beyond them has no main content, or its Markdown is shorter than it might be;
// neither is an error.
const (
	// maxNodes is the maximum number of nodes of a tree. The largest pages of the measured
	// documentation sets have 150,000. A page of 30 MB that is all tags has some 10 million, and a
	// table of them costs more than the result is worth.
	maxNodes = 2_000_000

	// maxDepth is how deep Markdown follows a tree by recursion; below it only text is used.
	// html.Parse rejects pages beyond 512 open elements.
	maxDepth = 600

	// maxNesting is the number of nested quotes and lists in Markdown; deeper ones are written at
	// that level. Each level costs up to eleven bytes on every line, and a page can have many short
	// lines.
	maxNesting = 16

	// maxMarkdown is the maximum length of Markdown, in bytes. It ends with the block that reaches
	// it.
	maxMarkdown = 64 << 20

	// maxColumns is the maximum number of columns of a Markdown table. A wider table is written
	// cell by cell.
	maxColumns = 64

	// maxClass is the maximum length of class and id attributes that are read, in bytes.
	maxClass = 512
)

// Package css matches CSS selectors against the nodes of a page in time that is
// linear in the nodes and in the selector, whatever the page.
//
// The language, its errors and its results are those of cascadia, which reads
// selectors and answers what concerns one element alone; a fuzz test holds the two
// together. What looks at other elements is answered here. Like browsers, it goes
// from the element to the left; but where browsers try one ancestor or sibling
// after the other, and bound no more than the depth they do that to, here each
// question to an element ("does it, or any ancestor of it, match the selector up to
// here?") is asked once and remembered:
//
//   - Each combinator and each :has keeps two bits for each node it came to.
//   - The positions of :nth-child and its like are counted once for each parent.
//   - :contains looks for its text once in the text of the whole page.
//   - :matches is the only one to read the same text again, of elements in each
//     other: a regular expression cannot tell of a part what it knows of the whole.
//
// All of it is told to a Spender as it is done, one for each node looked at and for
// each [Unit] bytes of text, and ends when that says so.
package css

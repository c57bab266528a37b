// Package css matches CSS selectors against the nodes of a page, as a goquery.Matcher, in time that
// is linear in the nodes and in the selector.
//
// The syntax, its errors and the results are those of cascadia, goquery's own matcher. cascadia
// parses the selectors and matches the parts that need only one element. A fuzz test compares the
// two. This package matches combinators and the pseudo-classes that check other elements, because
// cascadia walks the same ancestors, siblings and descendants again for each element, and cannot be
// interrupted. For 16,000 elements in 200 KB it took more than 3 s for "h2 ~ p ~ p", ".x > p",
// "div:has(.x)" and all forms of :nth-child (14 of the 40 cases of TestWorkIsLinear). Here each
// question about an element ("does it, or any ancestor of it, match the selector up to here?") is
// evaluated once and remembered:
//
//   - Each combinator and each :has keeps two bits for each visited node.
//   - The positions for :nth-child and the like are counted once for each parent.
//   - The text of the page is built once. Only :contains and :matches read the same text again,
//     for nested elements, which are at most 512 deep.
//
// A [Spender] is called for each visited node and for each [Unit] bytes of text, and can stop the
// work.
package css

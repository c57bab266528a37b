// Package css matches CSS selectors against the nodes of a page, as a
// goquery.Matcher, in time that is linear in the nodes and in the selector.
//
// The language, its errors and its results are those of cascadia, goquery's own
// matcher, which reads selectors and matches whatever concerns one element alone. A
// fuzz test holds the two together. Combinators and the pseudo-classes that look at
// other elements are matched here, because cascadia walks the same ancestors, siblings
// and descendants again for each element: 16,000 elements in 200 KB took it more than
// 3 s for "h2 ~ p ~ p", ".x > p", "div:has(.x)" and all forms of :nth-child (14 of the
// 40 cases of TestWorkIsLinear), and nothing ends it. Here each question to an element
// ("does it, or any ancestor of it, match the selector up to here?") is asked once and
// remembered:
//
//   - Each combinator and each :has keeps two bits for each node it came to.
//   - The positions of :nth-child and its like are counted once for each parent.
//   - The text of the page is made once. :contains and :matches alone read the same
//     text again, of elements in each other, which are at most 512.
//
// A [Spender] is called for each node looked at and for each [Unit] bytes of text, and
// can end the work.
package css

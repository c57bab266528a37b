package document

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// parts are the parts of FuzzForecast's pages.
var parts = strings.Fields(`<p> </p> <b_a_b_c_d_e_f> <b_g_h_i_j_k_l> </b> <a_a_b_c_d_e_f_g_h_i_j_k> <a_l> </a> <font_a_b_c_d_e_f> <font_size=1_b_c_d_e> </font>
	<nobr_a_b_c_d_e_f> </nobr> <div> </div> <table> </table> <tr> <td> </td> </tr> <caption> <select> <option> </select> <svg> </svg> <math> <mi> </mi> <desc> </desc>
	<foreignObject> </foreignObject> <title> </title> <style> </style> <script> </script> <textarea> </textarea> <noscript> </noscript> <template> </template>
	<![CDATA[ ]]> <!-- --> <li> <ul> </ul> <button> </button> <h1> </h1> <object> </object> <form> </form> <frameset> <body> </body> <html> <br> </br> <hr/> <div/>
	<x-y> </x-y> <span> </span> ' " x <p_x=' <plaintext> <noframes> </noframes> <annotation-xml> <i> </i> <em> </em> <head> <path/> <g> </g> <input> <rt> <marquee> </marquee>`)

// misnested are pages with forecasts that were once too low.
var misnested = []string{
	"<p><p><p></object></p></p></object><p><p></p></p></p></p>",
	"<svg></ul><b a b c d e><br><math></svg></svg></svg><title>",
	"</svg><math></svg><svg></svg><path/><noframes><path/></svg><foreignObject><math>",
	"<input><form><svg><option></form><textarea></script><form></script><html>",
	"<a l><b a b c d e><svg><a l><plaintext><b a b c d e><b a b c d e></svg>",
	"<marquee></font></style><svg><svg></br><style></font></style><svg></marquee>",
	"</nobr></nobr><svg></body><script><svg><b a b c d e><body><frameset></svg>",
	"<td><math></td></td><title>\"<math><td></td></body></style>\"\"</style>",
	"<frameset><math><![CDATA[<frameset><frameset><button><math><frameset><button><frameset>",
	"<select><select></svg><b a b c d e></table><svg></select></foreignObject></select><select><noframes></svg><b a b c d e><li>",
	"<mi><form><math><caption></mi></font><noframes><input>",
	"<svg><desc><mi><form></mi></desc><noframes><input>",
	"<rt></script><script><!--<!--<script><body><script>",
}

// sizeOfTree is the size of the nodes of a tree, without their texts.
func sizeOfTree(root *html.Node) int {
	size := 0
	for n := range root.Descendants() {
		size += sizeNode + len(n.Attr)*sizeAttribute
	}
	return size
}

// FuzzForecast compares the forecast with the parser's trees.
func FuzzForecast(f *testing.F) {
	for i := range parts {
		f.Add([]byte{byte(i), 2, byte(i + 1), 0, byte(i + 2), 60}, byte(i))
	}
	for _, part := range misnested {
		f.Add([]byte(strings.Repeat(part, 6)), byte(255))
	}
	for _, body := range bombs {
		f.Add([]byte(body[:min(len(body), 2000)]), byte(255))
	}
	f.Fuzz(func(t *testing.T, seed []byte, times byte) {
		if len(seed) > 2000 || times < 255 && len(seed) > 100 {
			return
		}
		body := string(seed)
		if times < 255 {
			var b strings.Builder
			for _, c := range seed {
				b.WriteString(strings.ReplaceAll(parts[int(c)%len(parts)], "_", " "))
			}
			body = strings.Repeat(b.String(), 1+int(times)%8)
		}
		root, err := html.ParseWithOptions(strings.NewReader(body), html.ParseOptionEnableScripting(false))
		if err != nil { // it is too deep
			return
		}
		counted := newForecast([]byte(body), 1<<40)
		counted.run()
		// The document has four nodes on any page.
		if got, want := 1<<40-counted.left+4*sizeNode, sizeOfTree(root); got < want {
			t.Errorf("%q: counted %d bytes of %d", body, got, want)
		}
	})
}

package structured

import (
	"encoding/json"
	"testing"

	"golang.org/x/net/html"
)

// standardExample is a page of a standard, and its meaning there, in the JSON form of the HTML
// standard (section 5.5).
type standardExample struct{ section, page, want string }

// The examples of the HTML standard, section 5, with the meaning from its text.
var microdataExamples = []standardExample{
	{
		"5.1.2, two items", `<div itemscope><p>My name is <span itemprop="name">Elizabeth</span>.</p></div>
		<div itemscope><p>My name is <span itemprop="name">Daniel</span>.</p></div>`,
		`[{"properties":{"name":["Elizabeth"]}},{"properties":{"name":["Daniel"]}}]`,
	},
	{
		"5.1.2, markup without microdata means nothing", `<div itemscope><p>My <em>name</em> is <span itemprop="name">E<strong>liz</strong>abeth</span>.</p></div>
		<section><div itemscope><aside><p>My name is <span itemprop="name"><a href="/?user=daniel">Daniel</a></span>.</p></aside></div></section>`,
		`[{"properties":{"name":["Elizabeth"]}},{"properties":{"name":["Daniel"]}}]`,
	},
	{
		"5.1.2, three properties", `<div itemscope><p>My name is <span itemprop="name">Neil</span>.</p>
		<p>My band is called <span itemprop="band">Four Parts Water</span>.</p><p>I am <span itemprop="nationality">British</span>.</p></div>`,
		`[{"properties":{"name":["Neil"],"band":["Four Parts Water"],"nationality":["British"]}}]`,
	},
	{
		"5.1.2, URL", `<div itemscope><img itemprop="image" src="google-logo.png" alt="Google"></div>`,
		`[{"properties":{"image":["https://site.test/google-logo.png"]}}]`,
	},
	{
		"5.1.2, data", `<h1 itemscope><data itemprop="product-id" value="9678AOU879">The Instigator 2000</data></h1>`,
		`[{"properties":{"product-id":["9678AOU879"]}}]`,
	},
	{
		"5.1.2, meter", `<div itemscope itemtype="http://schema.org/Product"><span itemprop="name">Panasonic White 60L Refrigerator</span>
		<div itemprop="aggregateRating" itemscope itemtype="http://schema.org/AggregateRating">
		<meter itemprop="ratingValue" min=0 value=3.5 max=5>Rated 3.5/5</meter> (based on <span itemprop="reviewCount">11</span> customer reviews)</div></div>`,
		`[{"type":["http://schema.org/Product"],"properties":{"name":["Panasonic White 60L Refrigerator"],"aggregateRating":[
		{"type":["http://schema.org/AggregateRating"],"properties":{"ratingValue":["3.5"],"reviewCount":["11"]}}]}}]`,
	},
	{
		"5.1.2, time", `<div itemscope>I was born on <time itemprop="birthday" datetime="2009-05-10">May 10th 2009</time>.</div>`,
		`[{"properties":{"birthday":["2009-05-10"]}}]`,
	},
	{
		"5.1.2, nested", `<div itemscope><p>Name: <span itemprop="name">Amanda</span></p><p>Band: <span itemprop="band" itemscope>
		<span itemprop="name">Jazz Band</span> (<span itemprop="size">12</span> players)</span></p></div>`,
		`[{"properties":{"name":["Amanda"],"band":[{"properties":{"name":["Jazz Band"],"size":["12"]}}]}}]`,
	},
	{
		"5.1.2, itemref", `<div itemscope id="amanda" itemref="a b"></div><p id="a">Name: <span itemprop="name">Amanda</span></p>
		<div id="b" itemprop="band" itemscope itemref="c"></div><div id="c"><p>Band: <span itemprop="name">Jazz Band</span></p>
		<p>Size: <span itemprop="size">12</span> players</p></div>`,
		`[{"properties":{"name":["Amanda"],"band":[{"properties":{"name":["Jazz Band"],"size":["12"]}}]}}]`,
	},
	{
		"5.1.2, several values", `<div itemscope><p>Flavors in my favorite ice cream:</p><ul><li itemprop="flavor">Lemon sorbet</li>
		<li itemprop="flavor">Apricot sorbet</li></ul></div>`,
		`[{"properties":{"flavor":["Lemon sorbet","Apricot sorbet"]}}]`,
	},
	{
		"5.1.2, several names", `<div itemscope><span itemprop="favorite-color favorite-fruit">orange</span></div>`,
		`[{"properties":{"favorite-color":["orange"],"favorite-fruit":["orange"]}}]`,
	},
	{
		"5.1.2, the place does not matter", `<figure><img src="castle.jpeg"><figcaption><span itemscope><span itemprop="name">The Castle</span></span> (1986)</figcaption></figure>`,
		`[{"properties":{"name":["The Castle"]}}]`,
	},
	{
		"5.1.3, type", `<section itemscope itemtype="https://example.org/animals#cat"><h1 itemprop="name">Hedral</h1>
		<p itemprop="desc">Hedral is a male american domestic shorthair, with a fluffy black fur with white paws and belly.</p>
		<img itemprop="img" src="hedral.jpeg" alt="" title="Hedral, age 18 months"></section>`,
		`[{"type":["https://example.org/animals#cat"],"properties":{"name":["Hedral"],"desc":["Hedral is a male american domestic shorthair, with a fluffy black fur with white paws and belly."],
		"img":["https://site.test/hedral.jpeg"]}}]`,
	},
	{
		"5.1.4, global identifier", `<dl itemscope itemtype="https://vocab.example.net/book" itemid="urn:isbn:0-330-34032-8"><dt>Title<dd itemprop="title">The Reality Dysfunction
		<dt>Author<dd itemprop="author">Peter F. Hamilton<dt>Publication date<dd><time itemprop="pubdate" datetime="1996-01-26">26 January 1996</time></dl>`,
		`[{"type":["https://vocab.example.net/book"],"id":"urn:isbn:0-330-34032-8","properties":{"title":["The Reality Dysfunction"],"author":["Peter F. Hamilton"],"pubdate":["1996-01-26"]}}]`,
	},
	{
		"5.2.2, the element's own name does not belong to its item", `<div itemscope itemtype="http://schema.org/Comment"><div itemprop="creator" itemscope><span itemprop="name">Greg</span></div>
		<meta itemprop="dateCreated" content="2013-08-29"><link itemprop="url" href="#comment1"></div>`,
		`[{"type":["http://schema.org/Comment"],"properties":{"creator":[{"properties":{"name":["Greg"]}}],"dateCreated":["2013-08-29"],"url":["https://site.test/#comment1"]}}]`,
	},
}

// The examples of RDFa Lite 1.1, section 2.
var rdfaExamples = []standardExample{
	{
		"2.1, vocab, typeof and property", `<p vocab="http://schema.org/" typeof="Person">My name is <span property="name">Manu Sporny</span> and you can give me a ring via
		<span property="telephone">1-800-555-0199</span> or visit <a property="url" href="http://manu.sporny.org/">my homepage</a>.</p>`,
		`[{"type":["http://schema.org/Person"],"properties":{"name":["Manu Sporny"],"telephone":["1-800-555-0199"],"url":["http://manu.sporny.org/"]}}]`,
	},
	{
		"2.1, image", `<p vocab="http://schema.org/" typeof="Person">My name is <span property="name">Manu Sporny</span>
		<img property="image" src="http://manu.sporny.org/images/manu.png" /></p>`,
		`[{"type":["http://schema.org/Person"],"properties":{"name":["Manu Sporny"],"image":["http://manu.sporny.org/images/manu.png"]}}]`,
	},
	{
		"2.2, resource", `<p vocab="http://schema.org/" resource="#manu" typeof="Person">My name is <span property="name">Manu Sporny</span>.</p>`,
		`[{"type":["http://schema.org/Person"],"id":"https://site.test/#manu","properties":{"name":["Manu Sporny"]}}]`,
	},
	{
		"2.3, prefix", `<p vocab="http://schema.org/" prefix="ov: http://open.vocab.org/terms/" resource="#manu" typeof="Person">My name is
		<span property="name">Manu Sporny</span>. My favorite animal is the <span property="ov:preferredAnimal">Liger</span>.</p>`,
		`[{"type":["http://schema.org/Person"],"id":"https://site.test/#manu","properties":{"name":["Manu Sporny"],"http://open.vocab.org/terms/preferredAnimal":["Liger"]}}]`,
	},
}

func TestMicrodataOfTheStandard(t *testing.T) {
	compareExamples(t, microdataExamples, Microdata)
}

func TestRDFaOfTheStandard(t *testing.T) { compareExamples(t, rdfaExamples, RDFa) }

func compareExamples(t *testing.T, examples []standardExample, read func(*html.Node, string) ([]*Item, []Problem)) {
	t.Helper()
	for _, e := range examples {
		items, problems := read(parse(t, e.page), "https://site.test/")
		got := AppendItems(nil, items)
		if !sameJSON(t, string(got), e.want) || len(problems) > 0 {
			t.Errorf("%s:\n%s, %v\nwant\n%s", e.section, got, problems, e.want)
		}
	}
}

// The rules of JSON-LD 1.1, section 7, for data in HTML.
func TestJSONLDInHTMLOfTheStandard(t *testing.T) {
	for _, e := range []standardExample{
		{"7, one script", `<script type="application/ld+json">{"@type":"A","name":"x"}</script>`, `[{"@type":"A","name":"x"}]`},
		{"7, several are one list", `<script type="application/ld+json">{"a":1}</script><script type="application/ld+json">[{"b":2},{"c":3}]</script>`, `[{"a":1},[{"b":2},{"c":3}]]`},
		{"7.1, base is that of the document", `<base href="/x/"><script type="application/ld+json">{"@id":"y"}</script>`, `[{"@id":"y"}]`},
		{"7.2, references of HTML are text", `<script type="application/ld+json">{"a":"&lt;&amp;"}</script>`, `[{"a":"&lt;&amp;"}]`},
		{"7.2, escapes of JSON", `<script type="application/ld+json">{"a":"\u003c/script\u003e <\/script>"}</script>`, `[{"a":"</script> </script>"}]`},
		{"7, profile", `<script type="application/ld+json;profile=&quot;http://www.w3.org/ns/json-ld#compacted&quot;">{"a":1}</script>`, `[{"a":1}]`},
		{"7, type in capitals", `<SCRIPT TYPE="Application/LD+JSON">{"a":1}</SCRIPT>`, `[{"a":1}]`},
		{"7, other scripts", `<script type="application/json">{"a":1}</script><script>x</script>`, `null`},
	} {
		values, problems := JSONLD(parse(t, e.page))
		got, err := json.Marshal(values)
		if err != nil || !sameJSON(t, string(got), e.want) || len(problems) > 0 {
			t.Errorf("%s: %s, %v, %v\nwant %s", e.section, got, problems, err, e.want)
		}
	}
}

package crawlspec

import "time"

// RenderMode says whether a page is shown in a browser before it is parsed.
type RenderMode string

// Modes of rendering.
const (
	RenderNever  RenderMode = "never"  // pages are parsed as received
	RenderAuto   RenderMode = "auto"   // only pages that look incomplete without a browser are rendered
	RenderAlways RenderMode = "always" // all HTML is rendered
)

// renderModes are all modes.
var renderModes = []string{string(RenderNever), string(RenderAuto), string(RenderAlways)}

// RenderUntil is the event that rendering waits for.
type RenderUntil string

// Values of RenderUntil.
const (
	UntilDOM  RenderUntil = "dom"  // the document is parsed (DOMContentLoaded)
	UntilLoad RenderUntil = "load" // and its styles, scripts and pictures are loaded
	UntilIdle RenderUntil = "idle" // and no request has been in progress for half a second
)

// renderUntils are all values of RenderUntil.
var renderUntils = []string{string(UntilDOM), string(UntilLoad), string(UntilIdle)}

// Render selects the pages that a browser renders before they are parsed, and configures the browser. In YAML
// and JSON, a mode stands for that mode with the other defaults.
type Render struct {
	// Mode is that of pages which no rule of Modes names.
	Mode RenderMode `json:"mode"`
	// Modes give URLs their mode; the first rule that matches decides.
	Modes []RenderRule `json:"modes,omitempty"`
	// Until is the event from which on a page counts as complete, and Actions may begin.
	Until RenderUntil `json:"until"`
	// Actions are done with a page that is complete, one after the other. One that fails costs the page nothing else.
	Actions []RenderAction `json:"actions,omitempty"`
	// PressLinks is how many elements that look like links, but have no address, are pressed at most, 0 to 200, to find where they
	// lead. The page stays as it was, and nothing is sent.
	PressLinks int `json:"press_links,omitempty"`
	// InitScript is JavaScript that is run in each document before any script of the page.
	InitScript string `json:"init_script,omitempty"`
	// Storage says for how long cookies and all else that pages store in the browser is kept;
	// beside Login always for the crawl.
	Storage RenderStorage `json:"storage"`
	// Login logs in, for pages that only members can see.
	Login *RenderLogin `json:"login,omitempty"`
	// Viewport is the size of the browser's window.
	Viewport RenderViewport `json:"viewport"`
	// Language is the language (BCP 47) that the browser reports to pages and sites as its user's. Without it,
	// the browser uses its default.
	Language string `json:"language,omitempty"`
	// Block lists requests of a page that are not sent.
	Block RenderBlock `json:"block"`
	// Capture lists patterns, as in Spec.Include, of URLs that scripts of a page request. Matching responses are
	// parsed as separate pages, by rules for json and other types.
	Capture Strings `json:"capture,omitempty"`
	// Screenshot keeps a PNG of the whole page in the archive, PDF the page as it is printed.
	Screenshot bool `json:"screenshot,omitempty"`
	PDF        bool `json:"pdf,omitempty"`
	// Print says how PDFs are printed.
	Print RenderPrint `json:"print"`
	// Timeout bounds the rendering of one page, 1s to 5m. What it has by then is parsed.
	Timeout Duration `json:"timeout"`
	// MaxRequests is how many requests a page may make beside that for the page itself,
	// 0 to 2000; those beyond it fail.
	MaxRequests int `json:"max_requests"`
	// MaxBytes is how many bytes the bodies of their answers may have in all, on the wire.
	MaxBytes Bytes `json:"max_bytes"`

	captured urlPatterns
}

// RenderRule gives the URLs that match one of its patterns, as in Spec.Include, a mode.
type RenderRule struct {
	Match Strings    `json:"match"`
	Mode  RenderMode `json:"mode"`

	compiled urlPatterns
}

// RenderViewport is the size of a browser's window in CSS pixels, each side from 200 to 4096.
type RenderViewport struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// RenderPrint says how a page is printed.
type RenderPrint struct {
	// Format is the paper, of PaperFormats. Without it, it is that of the page's styles, or letter.
	Format    string `json:"format,omitempty"`
	Landscape bool   `json:"landscape,omitempty"`
	// Background prints background colours and pictures.
	Background bool `json:"background"`
	// Scale enlarges the page, 0.1 to 2.
	Scale float64 `json:"scale"`
	// Margin is that of each side in centimetres, 0 to 10, unless the styles of the page have another one.
	Margin float64 `json:"margin"`
}

// PaperFormats are the formats of paper.
var PaperFormats = []string{"a3", "a4", "a5", "letter", "legal", "tabloid"}

// RenderBlock lists requests of a page that are not sent. They are not counted.
type RenderBlock struct {
	// Types of the blocked resources, of BlockTypes; [] blocks none.
	Types Strings `json:"types"`
	// URLs lists patterns, as in Spec.Include.
	URLs Strings `json:"urls,omitempty"`

	compiled urlPatterns
}

// BlockTypes are the types of what a page loads, as browsers tell them apart.
var BlockTypes = []string{
	"stylesheet", "image", "media", "font", "script", "texttrack", "xhr", "fetch",
	"eventsource", "websocket", "manifest", "ping", "other",
}

// Defaults of a Render.
const (
	DefaultRenderTimeout     = Duration(30 * time.Second)
	DefaultRenderMaxRequests = 200
	DefaultRenderMaxBytes    = Bytes(50 << 20)
)

// DefaultRender renders no page. For rendered pages, it loads no pictures, films and fonts.
func DefaultRender() Render {
	return Render{
		Mode: RenderNever, Until: UntilIdle, Storage: StoragePage, Viewport: RenderViewport{Width: 1280, Height: 800},
		Print:   RenderPrint{Background: true, Scale: 1, Margin: 1},
		Block:   RenderBlock{Types: Strings{"image", "media", "font"}},
		Timeout: DefaultRenderTimeout, MaxRequests: DefaultRenderMaxRequests, MaxBytes: DefaultRenderMaxBytes,
	}
}

// UnmarshalJSON accepts keys, or only a mode. Omitted keys have their defaults.
func (r *Render) UnmarshalJSON(b []byte) error {
	*r = DefaultRender()
	type plain Render
	err := textOr(b, &r.Mode, (*plain)(r))
	r.compile()
	return err
}

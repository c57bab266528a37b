package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Limits of a PDF.
const (
	maxMemory  = 256 << 20        // bytes of an instance, including the file
	maxTime    = 60 * time.Second // time for reading a PDF
	maxPages   = 10_000           // pages read
	maxChars   = 1 << 20          // characters of a page
	maxLinks   = 1000             // links of a page
	maxOutline = 10_000           // bookmarks read
	maxOfPage  = 100              // bookmarks that lead to one page
	maxPDFs    = 4                // PDFs read at a time
)

// engine has the instances of PDFium. It is created, and PDFium compiled, for the first PDF.
var engine = sync.OnceValues(func() (pdfium.Pool, error) {
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(maxMemory >> 16).
		WithCloseOnContextDone(true)
	if cache, err := compiled(); err == nil { // otherwise the next process compiles it again
		config = config.WithCompilationCache(cache)
	}
	return webassembly.Init(webassembly.Config{
		MaxTotal: min(runtime.GOMAXPROCS(0), maxPDFs), FSConfig: wazero.NewFSConfig(), RuntimeConfig: config,
		Stdout: io.Discard, Stderr: io.Discard,
	})
})

// compiled returns a cache that keeps compiled code on disk, for the next process.
func compiled() (wazero.CompilationCache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	return wazero.NewCompilationCacheWithDir(filepath.Join(dir, "seine", "wasm"))
}

// pdf is a PDF that is being read.
type pdf struct {
	*page
	lib     pdfium.Pdfium
	doc     references.FPDF_DOCUMENT
	outline map[int][]entry // by page, from 0
}

// entry is an entry of the outline.
type entry struct {
	title string
	level int
}

func readPDF(p *page, file []byte) error {
	pool, err := engine()
	if err != nil {
		return fmt.Errorf("start PDFium: %w", err)
	}
	lib, err := pool.GetInstanceWithContext(p.ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(p.ctx, maxTime)
	defer cancel()
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = lib.Kill()
		close(killed)
	})
	defer func() {
		if stop() {
			_ = lib.Close()
		} else {
			<-killed
		}
	}()
	d := &pdf{page: p, lib: lib, outline: make(map[int][]entry)}
	if err = d.read(file); err != nil && ctx.Err() != nil {
		return fail(TooLarge, "it takes more than %s to read", maxTime)
	}
	return err
}

func (d *pdf) read(file []byte) error {
	opened, err := d.lib.OpenDocument(&requests.OpenDocument{File: &file})
	switch {
	case errors.Is(err, pdferrors.ErrPassword), errors.Is(err, pdferrors.ErrSecurity):
		return fail(Encrypted, "it needs a password")
	case err != nil:
		return fail(Damaged, "PDFium cannot open it: %v", err)
	}
	d.doc = opened.Document
	d.properties()
	if err := d.readOutline(); err != nil {
		return err
	}
	count, err := d.lib.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: d.doc})
	if err != nil {
		return err
	}
	d.pages = count.PageCount
	var first error
	for i := range min(d.pages, maxPages) {
		d.section(i + 1)
		if err := d.readPage(i); err != nil {
			first = fmt.Errorf("page %d: %w", i+1, err)
			if !errors.Is(err, errPage) {
				return first // the instance is unusable
			}
		}
		if d.full {
			return first
		}
	}
	if d.pages > maxPages {
		return fail(TooLarge, "it has %d pages, of which %d are read", d.pages, maxPages)
	}
	return first
}

// properties reads the document information, whose entries may be missing.
func (d *pdf) properties() {
	for tag, to := range map[string]*string{
		"Title": &d.title, "Author": &d.author, "Subject": &d.description, "CreationDate": &d.created, "ModDate": &d.modified,
	} {
		if got, err := d.lib.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: d.doc, Tag: tag}); err == nil {
			*to = got.Value
		}
	}
	if got, err := d.lib.FPDFCatalog_GetLanguage(&requests.FPDFCatalog_GetLanguage{Document: d.doc}); err == nil {
		d.language = got.Language
	}
}

// readOutline reads the bookmarks, which may form a cycle.
func (d *pdf) readOutline() error {
	type place struct {
		at    *references.FPDF_BOOKMARK
		level int
	}
	first := func(of *references.FPDF_BOOKMARK) (*references.FPDF_BOOKMARK, error) {
		got, err := d.lib.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: d.doc, Bookmark: of})
		if err != nil {
			return nil, err
		}
		return got.Bookmark, nil
	}
	root, err := first(nil)
	stack := []place{{root, 1}}
	for n := 0; err == nil && len(stack) > 0 && n < maxOutline; n++ {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if top.at == nil {
			continue
		}
		d.addEntry(*top.at, top.level)
		next, failed := d.lib.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: d.doc, Bookmark: *top.at})
		if failed != nil {
			return failed
		}
		stack = append(stack, place{next.Bookmark, top.level})
		if top.level < 6 {
			var child *references.FPDF_BOOKMARK
			child, err = first(top.at)
			stack = append(stack, place{child, top.level + 1})
		}
	}
	return err
}

// addEntry adds an entry that leads to a page of the document.
func (d *pdf) addEntry(at references.FPDF_BOOKMARK, level int) {
	title, err := d.lib.FPDFBookmark_GetTitle(&requests.FPDFBookmark_GetTitle{Bookmark: at})
	if err != nil || title.Title == "" {
		return
	}
	dest, err := d.lib.FPDFBookmark_GetDest(&requests.FPDFBookmark_GetDest{Document: d.doc, Bookmark: at})
	if err != nil || dest.Dest == nil {
		return
	}
	to, err := d.lib.FPDFDest_GetDestPageIndex(&requests.FPDFDest_GetDestPageIndex{Document: d.doc, Dest: *dest.Dest})
	e := entry{title.Title, level}
	if err == nil && to.Index >= 0 && !slices.Contains(d.outline[to.Index], e) && len(d.outline[to.Index]) < maxOfPage {
		d.outline[to.Index] = append(d.outline[to.Index], e)
	}
}

// errPage is wrapped by the error of a page that cannot be read, while others may be.
var errPage = errors.New("PDFium cannot read it")

// readPage reads a page; index starts at 0.
func (d *pdf) readPage(index int) error {
	loaded, err := d.lib.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: d.doc, Index: index})
	if err != nil {
		return d.lost(err)
	}
	defer func() { _, _ = d.lib.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page}) }()
	of := requests.Page{ByReference: &loaded.Page}
	text, err := d.lib.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: of})
	if err != nil {
		return d.lost(err)
	}
	defer func() { _, _ = d.lib.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}) }()
	chars, err := d.lib.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text.TextPage})
	if err != nil {
		return d.lost(err)
	}
	leaf := leaf{page: d.page, outline: d.outline[index]}
	if chars.Count > 0 {
		got, err := d.lib.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: text.TextPage, Count: min(chars.Count, maxChars)})
		if err != nil {
			return d.lost(err)
		}
		leaf.text = got.Text
	} else if !d.pictures {
		d.pictures = d.hasPicture(of)
	}
	leaf.links = d.links(of, text.TextPage)
	leaf.write()
	return nil
}

// lost distinguishes an error of a page from the loss of the instance.
func (d *pdf) lost(err error) error {
	if _, dead := d.lib.FPDF_GetLastError(&requests.FPDF_GetLastError{}); dead != nil {
		return fail(Damaged, "PDFium ended: %.200v", err)
	}
	return fmt.Errorf("%w: %w", errPage, err)
}

// hasPicture reports whether a page has an image, or a form object, which may contain one.
func (d *pdf) hasPicture(of requests.Page) bool {
	count, err := d.lib.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: of})
	for i := 0; err == nil && i < min(count.Count, 100); i++ {
		o, err := d.lib.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: of, Index: i})
		if err != nil {
			return false
		}
		kind, err := d.lib.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: o.PageObject})
		if err == nil && (kind.Type == enums.FPDF_PAGEOBJ_IMAGE || kind.Type == enums.FPDF_PAGEOBJ_FORM) {
			return true
		}
	}
	return false
}

// anchor is a link of a page, with the text below it.
type anchor struct{ url, text string }

// links returns the links of a page: its annotations, then the URLs in its text.
func (d *pdf) links(of requests.Page, text references.FPDF_TEXTPAGE) []anchor {
	var all []anchor
	for at, n := 0, 0; n < maxLinks; n++ {
		got, err := d.lib.FPDFLink_Enumerate(&requests.FPDFLink_Enumerate{Page: of, StartPos: at})
		if err != nil || got.Link == nil || got.NextStartPos == nil || *got.NextStartPos <= at {
			break
		}
		at = *got.NextStartPos
		if a := d.annotation(*got.Link, text); a.url != "" {
			all = append(all, a)
		}
	}
	found, err := d.lib.FPDFLink_LoadWebLinks(&requests.FPDFLink_LoadWebLinks{TextPage: text})
	if err != nil {
		return all
	}
	defer func() {
		_, _ = d.lib.FPDFLink_CloseWebLinks(&requests.FPDFLink_CloseWebLinks{PageLink: found.PageLink})
	}()
	count, err := d.lib.FPDFLink_CountWebLinks(&requests.FPDFLink_CountWebLinks{PageLink: found.PageLink})
	for i := 0; err == nil && i < min(count.Count, maxLinks); i++ {
		got, err := d.lib.FPDFLink_GetURL(&requests.FPDFLink_GetURL{PageLink: found.PageLink, Index: i})
		if err == nil {
			all = append(all, anchor{url: got.URL, text: got.URL})
		}
	}
	return all
}

// annotation returns the link of an annotation, if it leads to a URL.
func (d *pdf) annotation(link references.FPDF_LINK, text references.FPDF_TEXTPAGE) (a anchor) {
	action, err := d.lib.FPDFLink_GetAction(&requests.FPDFLink_GetAction{Link: link})
	if err != nil || action.Action == nil {
		return a
	}
	uri, err := d.lib.FPDFAction_GetURIPath(&requests.FPDFAction_GetURIPath{Document: d.doc, Action: *action.Action})
	if err != nil || uri.URIPath == nil {
		return a
	}
	a.url = *uri.URIPath
	rect, err := d.lib.FPDFLink_GetAnnotRect(&requests.FPDFLink_GetAnnotRect{Link: link})
	if err != nil || rect.Rect == nil {
		return a
	}
	within, err := d.lib.FPDFText_GetBoundedText(&requests.FPDFText_GetBoundedText{
		TextPage: text, Left: float64(rect.Rect.Left), Top: float64(rect.Rect.Top), Right: float64(rect.Rect.Right), Bottom: float64(rect.Rect.Bottom),
	})
	if err == nil {
		a.text = within.Text
	}
	return a
}

package scriptweb

// dialogPages open dialogs and windows, and download files.
func dialogPages() []Page {
	return []Page{
		at("dialogs", Page{Text: []string{"shown after the dialogs"}}),
		at("dialog-loop", Page{Fails: true, Render: bounded}),
		at("print-dialog", Page{Text: []string{"shown after the print"}}),
		at("permissions", Page{Text: []string{"shown beside questions"}}),
		at("beforeunload", Page{Text: []string{"a page to stay on"}}),
		at("beforeunload-clicked", Page{
			Text: []string{"used and to stay on"}, Render: `{"actions":[{"click":"button"}]}`,
		}),
		at("popup", Page{Text: []string{"the opener remains"}, Links: []string{"/popup/window"}, NotAsked: []string{"/popup/window"}, Without: []string{"inside the popup"}}),
		at("popup-by-click", Page{
			Text: []string{"the clicked opener remains"}, Links: []string{"/popup/window"}, Without: []string{"inside the popup"},
			Render: `{"actions":[{"click":"button"}]}`,
		}),
		at("download", Page{Text: []string{"the page beside the download"}, Links: []string{"/download/archive.bin"}}),
		at("download-blob", Page{Text: []string{"the page beside the made file"}}),
		at("download-iframe", Page{Text: []string{"the page around the download"}}),
		at("download-redirect", Page{RedirectTo: "/download-redirect/archive.bin"}),
		at("pdf-link", Page{Text: []string{"a paper to read"}, Links: []string{"/pdf-link/paper.pdf"}, NotAsked: []string{"/pdf-link/paper.pdf"}}),
		at("pdf-redirect", Page{RedirectTo: "/pdf-redirect/paper.pdf"}),
		at("pdf-iframe", Page{Text: []string{"the page around the paper"}}),
	}
}

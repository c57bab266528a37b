package scriptweb

// Texts of the page "cookies" before and after the page "cookies-set" was rendered with the same
// cookies and storage.
const (
	JarEmpty = "jar holds nothing, store holds nothing"
	JarFull  = "jar holds crumb=baked, store holds kept"
)

// Texts of the page "cookies-sent", before and after: the cookies that the server got.
const (
	SentNothing = "server got nothing"
	SentCookies = "server got crumb=baked; dish=served"
)

// statePages set and show cookies, and ask for passwords.
func statePages() []Page {
	return []Page{
		at("cookies", Page{Text: []string{"jar holds"}}),
		{Name: "cookies-set", Path: "/cookies/set", Text: []string{"jar filled by a script"}},
		{Name: "cookies-sent", Path: "/cookies/sent", Text: []string{"server got"}, Asked: []string{"/cookies/echo"}},
		at("http-auth", Page{Text: []string{"answer without a password 401"}, Asked: []string{"/http-auth/resource"}}),
		at("bad-tls", Page{Text: []string{"certificate refused"}, NotAsked: []string{"/secret/bad-tls"}}),
	}
}

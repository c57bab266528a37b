package scriptweb

// What the page "cookies" shows before and after "cookies-set" has been rendered with the same cookies and storage.
const (
	JarEmpty = "jar holds nothing, store holds nothing"
	JarFull  = "jar holds crumb=baked, store holds kept"
)

// What the page "cookies-sent" shows before and after: what the server was sent.
const (
	SentNothing = "server got nothing"
	SentCookies = "server got crumb=baked; dish=served"
)

// statePages keep and show cookies, and ask for passwords.
func statePages() []Page {
	return []Page{
		at("cookies", Page{Text: []string{"jar holds"}}),
		{Name: "cookies-set", Path: "/cookies/set", Text: []string{"jar filled by a script"}},
		{Name: "cookies-sent", Path: "/cookies/sent", Text: []string{"server got"}, Asked: []string{"/cookies/echo"}},
		at("http-auth", Page{Text: []string{"answer without a password 401"}, Asked: []string{"/http-auth/resource"}}),
		at("bad-tls", Page{Text: []string{"certificate refused"}, NotAsked: []string{"/secret/bad-tls"}}),
	}
}

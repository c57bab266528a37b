package serve

import (
	"html/template"
	"net/http"
	"strings"
	"time"
)

// cookieName is the name of the cookie with a browser's token.
const cookieName = "seine_token"

// loginLife is the lifetime of the cookie.
const loginLife = 30 * 24 * time.Hour

var loginPage = template.Must(template.New("login").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Log in · Seine</title>
{{with .Style}}<link rel="stylesheet" href="{{$.Prefix}}{{.}}">{{end}}</head>
<body class="login"><main class="card"><h1>Seine</h1>
{{with .Problem}}<p class="banner bad" role="alert">{{.}}</p>{{end}}
<form class="fields" method="post" action="{{.Prefix}}/login"><input type="hidden" name="to" value="{{.To}}">
<label>Token <input type="password" name="token" autocomplete="current-password" required autofocus></label>
<p><button class="primary">Log in</button></p></form>
<p class="muted">The owner of this server makes tokens with <code>seine token create</code>.</p>
</main></body></html>
`))

func (o *Options) showLogin(w http.ResponseWriter, r *http.Request) {
	o.writeLogin(w, http.StatusOK, r.URL.Query().Get("to"), "")
}

func (o *Options) writeLogin(w http.ResponseWriter, status int, to, trouble string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = loginPage.Execute(w, map[string]string{"Prefix": o.PathPrefix, "To": localPath(to), "Problem": trouble, "Style": o.Style}) // the client may be gone
}

// login stores a valid token in a cookie.
func (o *Options) login(w http.ResponseWriter, r *http.Request) {
	secret, to := strings.TrimSpace(r.PostFormValue("token")), r.PostFormValue("to")
	known := o.Tokens == nil // without tokens, none is needed
	if !known {
		_, known = o.Tokens.Caller(secret)
	}
	if !known {
		o.writeLogin(w, http.StatusUnauthorized, to, "The token is not known here, was revoked, or has expired.")
		return
	}
	http.SetCookie(w, o.cookie(r, secret, int(loginLife.Seconds())))
	http.Redirect(w, r, o.PathPrefix+localPath(to), http.StatusSeeOther) //nolint:gosec // localPath leads to no other host
}

func (o *Options) logout(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, o.cookie(r, "", -1))
	http.Redirect(w, r, o.PathPrefix+"/login", http.StatusSeeOther)
}

// cookie returns a cookie that scripts cannot read and other sites cannot send.
func (o *Options) cookie(r *http.Request, secret string, age int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // not Secure over plain HTTP, where browsers would drop it
		Name: cookieName, Value: secret, Path: o.PathPrefix + "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	}
}

// maxPath bounds the path to open after the login.
const maxPath = 2 << 10

// localPath returns a path of this server, "/" instead of anything that leads elsewhere.
func localPath(to string) string {
	if len(to) > maxPath || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		return "/"
	}
	return to
}

package scriptweb

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Two sites have generated pages behind a login. The members site keeps its session in the
// browser's local storage; its pages are shells that show the login form without a session. The
// club site keeps its session in a cookie that a script sets, and redirects requests without one to
// its login.

// Credentials of both logins.
const (
	MemberName     = "ada"
	MemberPassword = "correct-horse-battery-7"
)

// Paths of the logins.
const (
	MembersLogin = "/members/login"
	ClubLogin    = "/club/login"
)

// MemberScript logs in at either site with the secrets user and password.
const MemberScript = `
	const form = document.querySelector('form.login')
	form.user.value = secrets.user
	form.password.value = secrets.password
	form.requestSubmit()`

// NoMember is true on pages that show the login form because of a missing session.
const NoMember = `document.querySelector('form.login')`

// MembersPath returns the path of a page behind the login with a session in local storage.
func MembersPath(n int) string { return fmt.Sprintf("/members/page/%d", n) }

// MembersData returns the path of the data that the page requests.
func MembersData(n int) string { return fmt.Sprintf("/members/data/%d", n) }

// ClubPath returns the path of a page behind the login with a session in a cookie.
func ClubPath(n int) string { return fmt.Sprintf("/club/page/%d", n) }

// MemberText returns the text that a page behind a login shows only with a session.
func MemberText(n int) string { return fmt.Sprintf("members article number %d.", n) }

// sessions are the sessions of both logins.
type sessions struct {
	mu    sync.Mutex
	begun int
	most  int            // page views of each session; 0 is no limit
	left  map[string]int // remaining page views, by token
}

// EndSessionsAfter limits the number of page views of sessions that begin from now on.
func (s *sessions) EndSessionsAfter(pages int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = pages
}

// Sessions returns the number of sessions so far.
func (s *sessions) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

// begin starts a session if the request has the right credentials.
func (s *sessions) begin(r *http.Request) (token string, ok bool) {
	if r.PostFormValue("user") != MemberName || r.PostFormValue("password") != MemberPassword {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == nil {
		s.left = make(map[string]int)
	}
	s.begun++
	token = "token-" + strconv.Itoa(s.begun)
	if s.left[token] = s.most; s.most == 0 {
		s.left[token] = 1 << 30
	}
	return token, true
}

// use counts a page view of a session. It reports whether the page may be shown.
func (s *sessions) use(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left[token] == 0 {
		return false
	}
	s.left[token]--
	return true
}

// members serves the site with sessions in local storage.
func (s *sessions) members(rw http.ResponseWriter, r *http.Request, rest string) {
	what, number, _ := strings.Cut(rest, "/")
	switch what {
	case "login":
		writeHTML(rw, membersLogin)
	case "page":
		writeHTML(rw, membersPage)
	case "session":
		token, ok := s.begin(r)
		if !ok {
			http.Error(rw, "wrong", http.StatusForbidden)
			return
		}
		asJSON(rw, map[string]string{"token": token, "careless": r.PostFormValue("password")})
	case "data":
		if !s.use(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")) {
			http.Error(rw, "no session", http.StatusUnauthorized)
			return
		}
		n, _ := strconv.Atoi(number)
		asJSON(rw, map[string]string{"text": MemberText(n)})
	default:
		http.NotFound(rw, r)
	}
}

// club serves the site with sessions in a cookie.
func (s *sessions) club(rw http.ResponseWriter, r *http.Request, rest string) {
	what, number, _ := strings.Cut(rest, "/")
	switch what {
	case "login":
		writeHTML(rw, clubLogin)
	case "welcome":
		writeHTML(rw, clubWelcome)
	case "session":
		if token, ok := s.begin(r); ok {
			http.Redirect(rw, r, "/club/welcome#"+token, http.StatusSeeOther)
			return
		}
		http.Redirect(rw, r, ClubLogin+"?wrong", http.StatusSeeOther)
	case "page":
		if c, err := r.Cookie("club"); err == nil && s.use(c.Value) {
			n, _ := strconv.Atoi(number)
			writeHTML(rw, "<!doctype html><title>Club</title><p>This is "+MemberText(n)+"</p><script>document.title += ' page'</script>")
			return
		}
		http.Redirect(rw, r, ClubLogin+"?to="+r.URL.Path, http.StatusFound) //nolint:gosec // a path of this server
	default:
		http.NotFound(rw, r)
	}
}

const loginForm = `'<form class="login" method="post" action="' + action + '"><input name="user"><input name="password" type="password"></form>'`

const membersLogin = `<!doctype html><title>Log in</title><div id="root"></div>
<script>
  const action = '', root = document.getElementById('root')
  root.innerHTML = ` + loginForm + `
  root.querySelector('form').onsubmit = async event => {
    event.preventDefault()
    const answer = await fetch('/members/session', {method: 'POST', body: new URLSearchParams(new FormData(event.target))})
    if (!answer.ok) return root.append('wrong')
    localStorage.setItem('token', (await answer.json()).token)
    root.innerHTML = '<p id="hello">Hello</p>'
  }
</script>
`

const membersPage = `<!doctype html><title>Members</title><div id="root"></div>
<script>
  const action = '/members/login', root = document.getElementById('root'), number = location.pathname.split('/').pop()
  fetch('/members/data/' + number, {headers: {Authorization: 'Bearer ' + localStorage.getItem('token')}}).then(async answer => {
    root.innerHTML = answer.ok ? '<p>' + (await answer.json()).text + '</p>' : ` + loginForm + `
  })
</script>
`

const clubLogin = `<!doctype html><title>Log in</title><div id="root"></div>
<script>
  const action = '/club/session'
  document.getElementById('root').innerHTML = ` + loginForm + `
</script>
`

const clubWelcome = `<!doctype html><title>Welcome</title>
<script>
  document.cookie = 'club=' + location.hash.slice(1) + '; path=/club'
  document.write('<p id="hello">Hello</p>')
</script>
`

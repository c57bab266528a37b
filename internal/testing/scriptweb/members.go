package scriptweb

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Two sites have pages behind a login, made by number. That of members keeps its session in the browser's storage, and its pages
// are shells that show the form of the login where they have none; that of a club keeps it in a cookie that a script sets, and
// leads to its login where a request has none.

// What both logins want to know.
const (
	MemberName     = "ada"
	MemberPassword = "correct-horse-battery-7"
)

// Paths of the logins.
const (
	MembersLogin = "/members/login"
	ClubLogin    = "/club/login"
)

// MemberScript logs in at either: its secrets are user and password.
const MemberScript = `
	const form = document.querySelector('form.login')
	form.user.value = secrets.user
	form.password.value = secrets.password
	form.requestSubmit()`

// NoMember is true on pages that show that there is no session.
const NoMember = `document.querySelector('form.login')`

// MembersPath is a page behind the login whose session is in a local storage.
func MembersPath(n int) string { return fmt.Sprintf("/members/page/%d", n) }

// MembersData is what that page asks for.
func MembersData(n int) string { return fmt.Sprintf("/members/data/%d", n) }

// ClubPath is a page behind the login whose session is in a cookie.
func ClubPath(n int) string { return fmt.Sprintf("/club/page/%d", n) }

// MemberText is what only a page behind a login shows, with a session.
func MemberText(n int) string { return fmt.Sprintf("members article number %d.", n) }

// sessions are those of the logins, by their tokens.
type sessions struct {
	mu    sync.Mutex
	begun int
	most  int            // uses of each, 0 is no limit
	left  map[string]int // uses, by token
}

// EndSessionsAfter has sessions that begin from now on end after so many pages.
func (s *sessions) EndSessionsAfter(pages int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = pages
}

// Sessions is how many have begun.
func (s *sessions) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

// begin begins a session for a client with the password.
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

// use counts a page of a session, and reports whether it may be shown.
func (s *sessions) use(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left[token] == 0 {
		return false
	}
	s.left[token]--
	return true
}

// members answers for the site that keeps its session in the storage.
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

// club answers for the site that keeps its session in a cookie.
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

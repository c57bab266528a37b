package article

import (
	"errors"
	"strings"

	"seine/internal/base/ascii"
	"seine/internal/base/weburl"
)

// links makes the links of a document absolute.
type links struct {
	base *weburl.Base // nil if the page has no URL
}

func newLinks(baseURL string) links {
	b, err := weburl.NewBase(baseURL)
	if err != nil {
		return links{}
	}
	return links{base: b}
}

// absolute returns a reference as an absolute URL with its fragment. It returns mailto, tel and
// other such schemes unchanged. It returns "" for references that a reader of the text cannot
// follow: scripts, embedded data, and references that no browser understands.
func (l links) absolute(ref string) string {
	ref = strings.Trim(ref, "\t\n\f\r ")
	if l.base == nil || ref == "" {
		return ""
	}
	before, fragment, found := strings.Cut(ref, "#")
	u, err := l.base.Resolve(before)
	if errors.Is(err, weburl.ErrScheme) && leadsSomewhere(ref) {
		return ref
	}
	if err != nil {
		return ""
	}
	if found && fragment != "" {
		u += "#" + fragment
	}
	return u
}

func leadsSomewhere(ref string) bool {
	scheme, _, _ := strings.Cut(ref, ":")
	switch strings.ToLower(scheme) {
	case "mailto", "tel", "ftp", "sms", "xmpp", "irc", "magnet", "news":
		return true
	}
	return false
}

// escapeURL percent-encodes characters that would end a link destination of Markdown (CommonMark
// 0.31, section 6.3), or be read as an escape or an entity in it.
func escapeURL(u string) string {
	b := make([]byte, 0, len(u))
	for i := range len(u) {
		if c := u[i]; c <= ' ' || c == 0x7f || strings.IndexByte("()<>\\[]|\"`*", c) >= 0 {
			b = ascii.AppendEscape(b, c)
		} else {
			b = append(b, c)
		}
	}
	u = string(b)
	if strings.Contains(u, "&") && strings.Contains(u, ";") {
		u = strings.ReplaceAll(u, "&", "&amp;")
	}
	return u
}

package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Headers of a post, as the Standard Webhooks specification names them.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp" // Unix seconds, of this try
	HeaderSignature = "Webhook-Signature" // "v1," and a signature in base64; several with blanks between
)

// secretPrefix marks secrets, so that one in a wrong place is known.
const secretPrefix = "whsec_"

// newSecret makes a key that cannot be guessed.
func newSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it does not fail
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// Sign returns the signature of a body: HMAC-SHA256 over id, timestamp and body with dots between, by the key that
// the secret has in base64.
func Sign(secret, id, timestamp string, body []byte) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil {
		key = []byte(secret) // newSecret made none like that
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// signed are the headers of a try. While a secret is replaced there are two signatures, with a blank between.
func (h *Hook) signed(id string, at time.Time, body []byte) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	signatures := Sign(h.Secret, id, stamp, body)
	if h.Old != "" && at.Before(h.OldUntil) {
		signatures += " " + Sign(h.Old, id, stamp, body)
	}
	return http.Header{HeaderID: {id}, HeaderTimestamp: {stamp}, HeaderSignature: {signatures}}
}

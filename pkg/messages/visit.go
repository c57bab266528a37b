package messages

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"

	"seine/internal/base/weburl"
)

// URLHash identifies a canonical URL: four bytes for its host, then the first twelve of the SHA-256
// of the whole URL. The host comes first so that data stored by hash is close together for the
// links of a page, most of which stay on their host. At a billion URLs the chance of one collision
// is below 10^-11.
type URLHash [16]byte

// HashURL returns the identity of a canonical URL.
func HashURL(canonical string) URLHash {
	var h URLHash
	host := HashHost(weburl.Host(canonical))
	copy(h[:], host[:])
	sum := sha256.Sum256([]byte(canonical))
	copy(h[4:], sum[:12])
	return h
}

// HashHost returns the prefix of the hashes of all URLs of a host, which includes its port if it
// has one. Few other hosts share it.
func HashHost(host string) (hash [4]byte) {
	h := fnv.New32a()
	h.Write([]byte(host))
	binary.BigEndian.PutUint32(hash[:], h.Sum32())
	return hash
}

// String returns the hash as 32 hexadecimal digits.
func (h URLHash) String() string { return hex.EncodeToString(h[:]) }

// Visit is one intended fetch of one URL. A retry belongs to the same visit; a recrawl is the next
// round. The visit is the identity that makes repeats harmless at every stage.
type Visit struct {
	URL   URLHash
	Round uint64
}

// ErrVisit is returned for a text that is not a visit.
var ErrVisit = errors.New(`visit must be 32 hexadecimal digits, a dot and a round from 1, as in "0f…3a.1"`)

// IsZero reports that no visit is set, as in a batch of seeds.
func (v Visit) IsZero() bool { return v == Visit{} }

// String returns "<hash>.<round>".
func (v Visit) String() string {
	return v.URL.String() + "." + strconv.FormatUint(v.Round, 10)
}

// MarshalText encodes the visit as String does; the zero visit is empty.
func (v Visit) MarshalText() ([]byte, error) {
	if v.IsZero() {
		return nil, nil
	}
	return []byte(v.String()), nil
}

// UnmarshalText decodes the output of MarshalText.
func (v *Visit) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*v = Visit{}
		return nil
	}
	hash, round, ok := bytes.Cut(text, []byte{'.'})
	if !ok || len(hash) != 32 {
		return fmt.Errorf("%q: %w", text, ErrVisit)
	}
	if _, err := hex.Decode(v.URL[:], hash); err != nil {
		return fmt.Errorf("%q: %w", text, ErrVisit)
	}
	n, err := strconv.ParseUint(string(round), 10, 63)
	if err != nil || n == 0 {
		return fmt.Errorf("%q: %w", text, ErrVisit)
	}
	v.Round = n
	return nil
}

package traps

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// keys are the keys under which a URL is counted.
type keys struct {
	fine   uint64 // host, path and parameter names; numbers and codes are not distinguished
	coarse uint64 // host, number of segments, file extension, and parameter names
	path   uint64 // host and path, exactly
	set    uint64 // names of the parameters, exactly; 0 if there are none
}

func keysOf(url string) keys {
	host, path, query := split(url)
	h := hash(host, 1)
	segments, ending := outline(path)
	k := keys{fine: hashPattern(path, h)}
	var rough uint64
	if query != "" {
		k.set, rough = nameSets(query)
		k.path = nonZero(hash(path, h))
	}
	k.fine = nonZero(mix(k.fine, rough))
	k.coarse = coarseKey(h, segments, ending, rough)
	return k
}

// coarseOf is keysOf(url).coarse.
func coarseOf(url string) uint64 {
	host, path, query := split(url)
	segments, ending := outline(path)
	var rough uint64
	if query != "" {
		_, rough = nameSets(query)
	}
	return coarseKey(hash(host, 1), segments, ending, rough)
}

func coarseKey(host uint64, segments int, ending string, names uint64) uint64 {
	return nonZero(mix(mix(host, hash(ending, uint64(segments)+2)), names))
}

// longestEnding is the maximum length of a file extension, without the dot.
const longestEnding = 5

// outline returns the number of segments of a path and the file extension of the last.
func outline(path string) (segments int, ending string) {
	segments = strings.Count(path, "/")
	last := path[strings.LastIndexByte(path, '/')+1:]
	if last == "" {
		return max(0, segments-1), ""
	}
	i := strings.LastIndexByte(last, '.')
	if i < 0 || len(last)-i-1 > longestEnding {
		return segments, ""
	}
	ending = last[i+1:]
	letters := false
	for i := range len(ending) {
		if !isAlnum(ending[i]) {
			return segments, ""
		}
		letters = letters || isLetter(ending[i])
	}
	if !letters { // a version number
		return segments, ""
	}
	return segments, ending
}

// longestName limits parameter names. A longer one does not count as a name.
const longestName = 64

// nameSets hashes the set of a query's parameter names: exactly, for the sets of one path, and
// roughly, for shapes. A part without "=" is a value without a name, as in
// showthread.php?4711-a-title.
func nameSets(query string) (exact, rough uint64) {
	type nameHash struct{ exact, rough uint64 }
	names := make([]nameHash, 0, 32)
	for more := true; more; {
		var text string
		text, query, more = strings.Cut(query, "&")
		name, _, named := strings.Cut(text, "=")
		if !named || len(name) > longestName || isToken(name) {
			name = ""
		}
		names = append(names, nameHash{hash(name, 5), hashPattern(name, 5)})
	}
	slices.SortFunc(names, func(a, b nameHash) int { return cmp.Compare(a.exact, b.exact) })
	for _, h := range slices.Compact(names) {
		exact += mix(h.exact, 7)
		rough += mix(h.rough, 11)
	}
	return nonZero(exact), nonZero(rough)
}

// isToken reports whether a parameter name looks random: hexadecimal digits, or many letters and
// digits.
func isToken(name string) bool {
	if len(name) < 8 {
		return false
	}
	digits, hex := 0, 0
	for i := range len(name) {
		c := name[i]
		switch {
		case isDigit(c):
			digits++
			hex++
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			hex++
		case !isLetter(c):
			return false
		}
	}
	return digits > 0 && (hex == len(name) || len(name) >= 20)
}

// hashPattern hashes a path with each run of digits as one digit, and each code as one character. A
// code is a UUID, a word of letters and digits, or a long word of mixed case.
func hashPattern(s string, h uint64) uint64 {
	for i := 0; i < len(s); {
		c := s[i]
		if c == '%' && i+2 < len(s) { // a byte of a non-ASCII character
			h = step(step(step(h, c), s[i+1]), s[i+2])
			i += 3
			continue
		}
		if !isAlnum(c) {
			h = step(h, c)
			i++
			continue
		}
		h, i = moldWord(s, i, h)
	}
	return mix(h, 3)
}

// moldWord hashes the word at i, and returns the hash and the end of the word.
func moldWord(s string, i int, h uint64) (uint64, int) {
	start, before := i, h
	digits, turns := 0, 0 // number of changes from lower to upper case
	var last byte
	for i < len(s) {
		c := s[i]
		switch {
		case isDigit(c):
			digits++
			if !isDigit(last) {
				h = step(h, '0')
			}
		case isLetter(c):
			if c < 'a' && last >= 'a' {
				turns++
			}
			h = step(h, c)
		default:
			if n := i - start; n == 8 && c == '-' && isUUID(s[start:]) {
				return step(before, 'x'), start + uuidLength
			} else if isCode(n, digits, turns) {
				return step(before, 'x'), i
			}
			return h, i
		}
		last = c
		i++
	}
	if isCode(i-start, digits, turns) {
		h = step(before, 'x')
	}
	return h, i
}

func isCode(n, digits, turns int) bool {
	return n >= 8 && digits > 0 && digits < n || n >= 16 && turns*4 >= n
}

const uuidLength = 36

func isUUID(s string) bool {
	if len(s) < uuidLength || len(s) > uuidLength && isAlnum(s[uuidLength]) {
		return false
	}
	for i := range uuidLength {
		c := s[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !isDigit(c) && !('a' <= c|0x20 && c|0x20 <= 'f') {
				return false
			}
		}
	}
	return true
}

// step, mix and hash are for tables in memory only: their results are not stored.

func step(h uint64, c byte) uint64 { return (h ^ uint64(c)) * 0x100000001b3 }

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xbf58476d1ce4e5b9)
	h := hi ^ lo
	h ^= h >> 32
	return h * 0x94d049bb133111eb
}

// hash processes eight bytes at a time.
func hash(s string, h uint64) uint64 {
	n := uint64(len(s))
	for ; len(s) >= 8; s = s[8:] {
		h = mix(h, uint64(s[0])|uint64(s[1])<<8|uint64(s[2])<<16|uint64(s[3])<<24|
			uint64(s[4])<<32|uint64(s[5])<<40|uint64(s[6])<<48|uint64(s[7])<<56)
	}
	var tail uint64
	for i := range len(s) {
		tail |= uint64(s[i]) << (8 * i)
	}
	return mix(h^n<<56, tail)
}

func nonZero(h uint64) uint64 {
	if h == 0 {
		return 1
	}
	return h
}

package format

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func TestNamesOfFormats(t *testing.T) {
	if got, want := Names(), "jsonl, jsonl.gz, jsonl.zst, json, csv, csv.gz, csv.zst, parquet, warc, warc.gz, warc.zst, objects, objects.pretty, objects.raw or markdown"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, ok := New("xls", Options{}); ok {
		t.Error("there is xls")
	}
	for _, e := range formats {
		if ext := newFormat(t, e.name, Options{}).Ext(); ext != e.name {
			t.Errorf("files of %s end in %s", e.name, ext)
		}
		if _, _, err := mime.ParseMediaType(e.media); err != nil {
			t.Errorf("media type of %s: %v", e.name, err)
		}
	}
}

// A chunk that is rewritten after a crash has the same bytes, even if its encoder was used before.
func TestChunkIsTheSameAgain(t *testing.T) {
	for _, e := range ofRecords(t) {
		_, records := pages(60)
		if e.name == "parquet" {
			_, records = pages(600) // two row groups
		}
		f := newFormat(t, e.name, ofPages())
		first := encode(t, f, records...)
		encode(t, f, records[10:15]...)
		given, err := f.NewEncoder(io.Discard, group)
		fatal(t, err)
		fatal(t, given.Append(records[0])) // and abandoned
		if !bytes.Equal(encode(t, f, records...), first) {
			t.Errorf("%s: the same records give other bytes", e.name)
		}
	}
}

// ofRecords returns the formats for records.
func ofRecords(t *testing.T) (some []entry) {
	for _, e := range formats {
		if CheckSource(e.name, "records") == nil {
			some = append(some, e)
		}
	}
	return some
}

// A full disk is reported at Close at the latest.
func TestErrorsOfTheFileAreReturned(t *testing.T) {
	full := errors.New("disk full")
	_, records := pages(60)
	for _, c := range ofRecords(t) {
		for _, room := range []int{0, 100_000} {
			e, err := newFormat(t, c.name, ofPages()).NewEncoder(&small{room, full}, group)
			for i := 0; i < len(records) && err == nil; i++ {
				err = e.Append(records[i])
			}
			if err == nil {
				err = e.Close()
			}
			if !errors.Is(err, full) {
				t.Errorf("%s, after %d bytes: %v", c.name, room, err)
			}
		}
	}
}

// small is a file on a disk with little space.
type small struct {
	room int
	err  error
}

func (s *small) Write(b []byte) (int, error) {
	if s.room -= len(b); s.room < 0 {
		return 0, s.err
	}
	return len(b), nil
}

func TestJSONArrayHasARecordOnEachLine(t *testing.T) {
	f := newFormat(t, "json", Options{})
	for want, lines := range map[string][]string{
		"[]\n": nil, "[\n{\"a\":1}\n]\n": {`{"a":1}`}, "[\n{\"a\":1},\n{\"b\":[2]}\n]\n": {`{"a":1}`, `{"b":[2]}`},
	} {
		got := encode(t, f, linesOf(lines...)...)
		if string(got) != want || !json.Valid(got) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Each frame can be decoded separately, and the table at the end has its position.
func TestFramesOfZstandardAreInTheTable(t *testing.T) {
	_, records := pages(60)
	const least = 200_000
	chunk := encode(t, jsonLines{"jsonl.zst", newZstandard(least)}, records...)
	z, err := zstd.NewReader(nil)
	fatal(t, err)
	defer z.Close()
	var all bytes.Buffer
	sizes := frames(t, chunk)
	if len(sizes) != 3 {
		t.Errorf("%d frames", len(sizes))
	}
	for i, size := range sizes {
		frame, err := z.DecodeAll(chunk[:size[0]], nil)
		fatal(t, err)
		if len(frame) != size[1] || frame[len(frame)-1] != '\n' || len(frame) > least+16<<10 || len(frame) < least && i < len(sizes)-1 {
			t.Errorf("frame %d has %d bytes, the table says %d", i, len(frame), size[1])
		}
		all.Write(frame)
		chunk = chunk[size[0]:]
	}
	if len(chunk) != 8+8*len(sizes)+9 {
		t.Errorf("%d bytes after the last frame", len(chunk))
	}
	var want bytes.Buffer
	for _, r := range records {
		want.Write(append(r.Data[:len(r.Data):len(r.Data)], '\n'))
	}
	if !bytes.Equal(all.Bytes(), want.Bytes()) {
		t.Error("the frames are not the records")
	}
}

// frames parses the table strictly by the format, and returns the sizes of each frame.
func frames(t *testing.T, chunk []byte) (sizes [][2]int) {
	t.Helper()
	footer := chunk[len(chunk)-9:]
	n := int(binary.LittleEndian.Uint32(footer))
	if binary.LittleEndian.Uint32(footer[5:]) != 0x8F92EAB1 || footer[4] != 0 {
		t.Fatalf("footer %x", footer)
	}
	table := chunk[len(chunk)-9-8*n-8:]
	if binary.LittleEndian.Uint32(table) != 0x184D2A5E || int(binary.LittleEndian.Uint32(table[4:])) != 8*n+9 {
		t.Fatalf("header %x", table[:8])
	}
	for i := range n {
		e := table[8+8*i:]
		sizes = append(sizes, [2]int{int(binary.LittleEndian.Uint32(e)), int(binary.LittleEndian.Uint32(e[4:]))})
	}
	return sizes
}

func TestCSVIsRFC4180(t *testing.T) {
	columns := []Column{{Name: "text"}, {Name: "n", Type: Number}, {Name: "any", Type: JSON}, {Name: "list", Type: Integer, List: true}}
	got := string(encode(t, newFormat(t, "csv", with(columns)), linesOf(
		`{"text":"a","n":-1.50,"any":null,"list":[1,2]}`, `{"text":"a, \"b\"\r\nc","any":"x"}`, `{"text":"","any":{"a":"b"}}`,
		`{"text":"=1","n":-1,"x":true}`,
	)...))
	want := "text,n,any,list,_more\r\n" +
		"a,-1.50,,\"[1,2]\",\r\n" +
		"\"a, \"\"b\"\"\r\nc\",,x,,\r\n" +
		"\"\",,\"{\"\"a\"\":\"\"b\"\"}\",,\r\n" +
		"=1,-1,,,\"{\"\"x\"\":true}\"\r\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The mark is at the beginning of each file, in any compression, and nowhere else.
func TestCSVBeginsWithAByteOrderMarkIfAsked(t *testing.T) {
	for _, name := range []string{"csv", "csv.gz", "csv.zst"} {
		o := with([]Column{{Name: "a"}})
		o.CSVBOM = true
		f := newFormat(t, name, o)
		for range 2 { // files
			in, closer, err := unpack(name, bytes.NewReader(encode(t, f, linesOf(`{"a":"é"}`, `{"a":"b"}`)...)))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(in)
			closer()
			if err != nil || string(text) != "\ufeffa,_more\r\né,\r\nb,\r\n" {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
	}
}

// OWASP, "CSV Injection": spreadsheets evaluate texts that begin like this.
func TestCSVSafeKeepsTextsFromBeingFormulas(t *testing.T) {
	o := with([]Column{{Name: "text"}, {Name: "n", Type: Number}, {Name: "any", Type: JSON}, {Name: "=name"}})
	o.CSVSafe = true
	f := newFormat(t, "csv", o)
	for line, want := range map[string]string{
		`{"text":"=1+1"}`: `'=1+1,,,,`, `{"text":"+1"}`: `'+1,,,,`, `{"text":"-1"}`: `'-1,,,,`, `{"text":"@a"}`: `'@a,,,,`,
		`{"text":"\ta"}`: "'\ta,,,,", `{"text":"\ra"}`: "\"'\ra\",,,,", `{"text":"\na"}`: "\"'\na\",,,,",
		`{"text":"=a\"b"}`: `"'=a""b",,,,`, `{"any":"=1"}`: `,,'=1,,`, `{"any":["=1"]}`: `,,"[""=1""]",,`,
		`{"n":-1}`: `,-1,,,`, `{"any":-1}`: `,,-1,,`, `{"text":"a=1"}`: `a=1,,,,`, `{"text":" =1"}`: ` =1,,,,`, `{"text":"'=1"}`: `'=1,,,,`,
		`{"text":""}`: `"",,,,`, `{"x":"=1"}`: `,,,,"{""x"":""=1""}"`,
	} {
		got := string(encode(t, f, linesOf(line)...))
		if want = "text,n,any,'=name,_more\r\n" + want + "\r\n"; got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

// Reading returns what was written.
func TestOpenReadsWhatWasWritten(t *testing.T) {
	lines := []string{`{"a":1}`, `{"b":"é\n","c":[{}, 1]}`, `{"text":"` + strings.Repeat("x", 200<<10) + `"}`}
	columns := with([]Column{{Name: "a", Type: Integer}, {Name: "b"}, {Name: "c", Type: JSON}, {Name: "text"}})
	for _, ext := range ReadableExts() {
		name := strings.TrimPrefix(ext, ".")
		chunk := encode(t, newFormat(t, name, columns), linesOf(lines...)...)
		for _, file := range []string{name, "c/part-000-20261121T010203Z-000000000001." + name, "c/part-0.3fa85c1b22d04e71." + name} {
			if got, err := readAll(file, chunk); err != nil || !reflect.DeepEqual(got, lines) {
				t.Errorf("%s: %.100q, %v", file, got, err)
			}
		}
	}
	if got, err := readAll("foreign.json", []byte(" [ {\"a\" : 1 ,\n\"b\":2}\n, 3 ] ")); err != nil || !reflect.DeepEqual(got, []string{`{"a":1,"b":2}`, `3`}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	for name, want := range map[string]string{
		"a.csv": "csv cannot be read back", "a.csv.zst": "csv.zst cannot be read back",
		"a.txt": "must end in .jsonl, .jsonl.gz, .jsonl.zst, .json or .parquet",
	} {
		if _, err := readAll(name, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	for name, data := range map[string]string{
		"cut.jsonl.zst": string(encode(t, newFormat(t, "jsonl.zst", Options{}), linesOf(`{"a":1}`)...)[:15]),
		"bad.jsonl.gz":  "x", "bad.json": `{"a":1}`, "cut.json": `[{"a":1}`, "empty.json": ``, "torn.json": `[{"a":]`,
		"cut.jsonl": "{\"a\":1}\n{\"a", "more.json": `[{"a":1}][]`,
		"empty.parquet": "", "cut.parquet": string(encode(t, newFormat(t, "parquet", with(everyType)), linesOf(`{"text":"a"}`)...)[8:]),
	} {
		if got, err := readAll(name, []byte(data)); err == nil {
			t.Errorf("%s is read as %q", name, got)
		}
	}
}

func readAll(name string, chunk []byte) (lines []string, err error) {
	err = recordsIn(name, bytes.NewReader(chunk), func(line []byte) error {
		lines = append(lines, string(line))
		return nil
	})
	return lines, err
}

// A file's format follows from its extension: a host may well contain the word "warc".
func TestArchivesAreKnownByTheirEnding(t *testing.T) {
	for name, want := range map[string]bool{
		"warc": true, "warc.gz": true, "jsonl": false, "a/2026/x.warc.zst": true, "a/x.warc.gz.age": true,
		"www.warchild.org/x.jsonl.zst": false, "x.warc.jsonl": false, "": false,
	} {
		if IsArchive(name) != want {
			t.Errorf("IsArchive(%q) = %v", name, !want)
		}
	}
}

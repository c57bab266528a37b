package bucket

import (
	"io"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"seine/internal/output"
)

// told returns the service's metadata of an object.
func (s *Sink) told(t testing.TB, path string) *s3.HeadObjectOutput {
	t.Helper()
	out, err := s.client.api.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &s.client.bucket, Key: aws.String(s.prefix + path)})
	check(t, err)
	if e := aws.ToString(out.ContentEncoding); e != "" {
		t.Errorf("%s has the encoding %s: clients would decompress it on the way", path, e)
	}
	return out
}

// All stored objects have a media type, derived from the name or the record.
func TestObjectsHaveTheirMediaType(t *testing.T) {
	at := start(t)
	s := at.open(t)
	s.client.partsFrom = 1 << 10 // a larger chunk is sent in parts
	p := openOne(t, s)
	for i, tt := range []struct{ ext, want, content string }{
		{"jsonl", "application/x-ndjson", "{}"}, {"jsonl.gz", "application/gzip", "x"}, {"jsonl.zst", "application/zstd", strings.Repeat("x", 2<<10)},
		{"json", "application/json", "[]"}, {"csv", "text/csv; charset=utf-8; header=present", "a"}, {"parquet", "application/vnd.apache.parquet", "x"},
		{"warc", "application/warc", "x"}, {"warc.gz", "application/gzip", "x"}, {"warc.gz.cdxj", "text/plain; charset=utf-8", "x"},
		{"jsonl.zst.age", "application/octet-stream", "x"},
	} {
		c, err := p.Create(nameOf(uint64(i+1)), output.Group{Crawl: "crawl", Dir: "crawl"}, tt.ext)
		check(t, err)
		_, err = io.WriteString(c, tt.content)
		check(t, err)
		f, err := c.Finish()
		check(t, err)
		if got := aws.ToString(s.told(t, f.Path).ContentType); got != tt.want {
			t.Errorf("%s is said to be %q, want %q", f.Path, got, tt.want)
		}
	}
	commitOne(t, p, 100, "one")
	check(t, s.PutManifest("_manifests/default/crawl.json", strings.NewReader("{}")))
	for _, path := range []string{"_manifests/default/crawl.json", "_commits/default/" + nameOf(100).String() + ".json"} {
		if got := aws.ToString(s.told(t, path).ContentType); got != "application/json" {
			t.Errorf("%s is said to be %q", path, got)
		}
	}
}

// Objects have the URL of their page in their metadata, if it fits a header.
func TestObjectsSayTheirURL(t *testing.T) {
	at := start(t)
	s := at.open(t)
	long := "https://a.example/" + strings.Repeat("x", 1<<10)
	for i, tt := range []struct{ url, want string }{
		{"https://a.example/caf%C3%A9?q=1&r=%20", "https://a.example/caf%C3%A9?q=1&r=%20"}, {long, long}, {"", ""},
		{"https://b.example/caf\u00e9 \r\nx: y\x00", "https://b.example/caf%C3%A9%20%0D%0Ax:%20y%00"},
		{long + strings.Repeat("y", 1<<10), ""}, // exceeds the limit of an object
	} {
		o, err := openOne(t, s).(output.ObjectPartition).Objects(nameOf(uint64(i + 1)))
		check(t, err)
		obj := output.Object{Path: "x/one.html", Crawl: "a", Sequence: uint64(i + 1), Type: "text/html; charset=utf-8", URL: tt.url}
		check(t, o.Put(obj, func(w io.Writer) error {
			_, err := io.WriteString(w, tt.url)
			return err
		}))
		finish(t, o)
		have := s.told(t, obj.Path)
		if got := have.Metadata[metaURL]; got != tt.want || aws.ToString(have.ContentType) != obj.Type || have.Metadata[metaMade] == "" {
			t.Errorf("object of %q: %q, metadata %v", tt.url, aws.ToString(have.ContentType), have.Metadata)
		}
	}
}

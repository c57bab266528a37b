package format

import "testing"

// A file's media type follows from its name: that of the compression for compressed files, and a
// generic one for encrypted files.
func TestMediaTypeFollowsTheName(t *testing.T) {
	for name, want := range map[string]string{
		"c/part-1.jsonl": "application/x-ndjson", "c/part-1.jsonl.gz": "application/gzip", "c/part-1.jsonl.zst": "application/zstd",
		"c/part-1.json": "application/json", "_commits/default/000.json": "application/json",
		"c/part-1.csv": "text/csv; charset=utf-8; header=present", "c/part-1.csv.gz": "application/gzip",
		"c/part-1.parquet": "application/vnd.apache.parquet", "c/part-1.warc": "application/warc", "c/part-1.warc.gz": "application/gzip",
		"c/part-1.warc.gz.cdxj": "text/plain; charset=utf-8", "c/part-1.jsonl.zst.age": AnyType, "c/part-1.txt": AnyType,
	} {
		if got := MediaType(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

package bucket

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"seine/internal/base/lazyregexp"
	"seine/internal/output"
)

// Options say how to reach the destination of an --out of s3://BUCKET/PREFIX. They do not include
// credentials, which come from the sources of Amazon's own tools: the environment, the shared files
// and the machine's role.
type Options struct {
	Endpoint     string `group:"output" help:"URL of the S3 service, if it is not Amazon's." placeholder:"URL"`
	PathStyle    bool   `group:"output" help:"Put the bucket in the URL's path instead of its host name. Most services other than Amazon's need it."`
	Region       string `group:"output" help:"Region of the bucket (default: AWS_REGION or the AWS profile; us-east-1 with an endpoint)." placeholder:"NAME"`
	SSE          string `group:"output" name:"sse" help:"Server-side encryption: AES256, aws:kms or aws:kms:dsse (default: the bucket's)." placeholder:"KIND"`
	StorageClass string `group:"output" help:"Storage class of the files, such as STANDARD_IA. The commit log always has the bucket's default class." placeholder:"CLASS"`
}

// Scheme is the prefix of a destination in a bucket.
const Scheme = "s3://"

// Is reports whether out is in a bucket.
func Is(out string) bool { return strings.HasPrefix(out, Scheme) }

var (
	bucketPattern = lazyregexp.New(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	classPattern  = lazyregexp.New(`^[A-Z0-9_]{0,40}$`)
	sseKinds      = []string{"", "AES256", "aws:kms", "aws:kms:dsse"}
)

// split returns the bucket and the key prefix, which is empty or ends with a slash.
func split(out string) (bucket, prefix string, err error) {
	bucket, prefix, _ = strings.Cut(strings.TrimPrefix(out, Scheme), "/")
	if !bucketPattern().MatchString(bucket) {
		return "", "", fmt.Errorf("--out %q: must be s3://BUCKET or s3://BUCKET/PREFIX, with 3 to 63 of a-z, 0-9, '-' and '.' for BUCKET", out)
	}
	prefix = strings.TrimSuffix(prefix, "/")
	if prefix == "" {
		return bucket, "", nil
	}
	for part := range strings.SplitSeq(prefix, "/") {
		if part == "" || part == "." || part == ".." || part == output.CommitsDir {
			return "", "", fmt.Errorf("--out %q: no part of the prefix may be empty, '.', '..' or %s", out, output.CommitsDir)
		}
	}
	return bucket, prefix + "/", nil
}

// Validate returns an error that names the invalid option. It never repeats an endpoint, which may
// contain a password.
func (o *Options) Validate(out string) error {
	if !Is(out) {
		if *o != (Options{}) {
			return fmt.Errorf("--s3-…: is for an --out that begins with %s, this one is %q", Scheme, out)
		}
		return nil
	}
	if _, _, err := split(out); err != nil {
		return err
	}
	u, err := url.Parse(o.Endpoint)
	switch {
	case o.Endpoint == "":
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return fmt.Errorf("--s3-endpoint: must be a URL such as https://s3.example.org")
	case u.User != nil:
		return fmt.Errorf("--s3-endpoint: must not contain credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	switch {
	case !slices.Contains(sseKinds, o.SSE):
		return fmt.Errorf("--s3-sse %q: must be AES256, aws:kms or aws:kms:dsse", o.SSE)
	case !classPattern().MatchString(o.StorageClass):
		return fmt.Errorf("--s3-storage-class %q: must be a class such as STANDARD_IA", o.StorageClass)
	}
	return nil
}

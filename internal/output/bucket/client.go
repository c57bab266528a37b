package bucket

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	transfertypes "github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"

	"seine/internal/output"
)

// Limits of concurrent requests to S3.
const (
	// attempts and maxWait limit the retries of a request to about six seconds in all. The
	// partition waits out longer outages.
	attempts = 5
	maxWait  = 3 * time.Second
	// uploads is the number of chunks sent at a time. A chunk sent in parts has up to (partSends+2)
	// × partBytes in memory; any other is read from its file.
	uploads   = 4
	partSends = 2
	partBytes = 8 << 20
	// partsFrom is the size from which a chunk is sent in parts.
	partsFrom = 32 << 20
	// Sending a chunk may take sendTime, any other request requestTime.
	sendTime    = 5 * time.Minute
	requestTime = time.Minute
	// answerTime is how long a server may take to begin its response.
	answerTime = 30 * time.Second
	// maxEntry bounds the size of a log entry that is read; it is several times the largest entry.
	maxEntry = 64 << 20
)

// client accesses a bucket. It uses the SDK, and does not depend on chunks. It is safe for
// concurrent use.
type client struct {
	api    *s3.Client
	parts  *transfermanager.Client
	bucket string
	opt    Options
	// partsFrom is the constant partsFrom and pageSize is nil, the service's default, except in
	// tests.
	partsFrom int64
	pageSize  *int32
	sends     chan struct{}
}

// object is an object in a listing.
type object struct {
	key, etag string
}

func newClient(bucket string, o Options) (*client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTime)
	defer cancel()
	httpClient := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.ResponseHeaderTimeout = answerTime
	})
	cfg, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(httpClient), config.WithLogger(logging.Nop{}),
		config.WithRetryer(func() aws.Retryer {
			standard := retry.NewStandard(func(r *retry.StandardOptions) {
				r.MaxAttempts, r.MaxBackoff = attempts, maxWait
			})
			// Two conditional writes of one key collided; one of them may have succeeded.
			return retry.AddWithErrorCodes(standard, "ConditionalRequestConflict")
		}))
	if err != nil {
		return nil, fmt.Errorf("read the AWS configuration: %w", err)
	}
	switch {
	case o.Region != "":
		cfg.Region = o.Region
	case cfg.Region == "" && (o.Endpoint != "" || cfg.BaseEndpoint != nil):
		cfg.Region = "us-east-1" // signing region of services without regions
	case cfg.Region == "":
		return nil, errors.New("unknown region: set --s3-region or AWS_REGION")
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return nil, fmt.Errorf("no credentials found (%w): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE", err)
	}
	c := &client{bucket: bucket, opt: o, partsFrom: partsFrom, sends: make(chan struct{}, uploads)}
	c.api = s3.NewFromConfig(cfg, func(s *s3.Options) {
		s.UsePathStyle = o.PathStyle
		s.DisableLogOutputChecksumValidationSkipped = true
		if o.Endpoint != "" {
			s.BaseEndpoint = &o.Endpoint
		}
	})
	c.parts = transfermanager.New(c.api, func(t *transfermanager.Options) {
		t.PartSizeBytes, t.MultipartUploadThreshold = partBytes, partBytes
		t.Concurrency, t.FailTimeout = partSends, requestTime
		t.RequestChecksumCalculation = cfg.RequestChecksumCalculation
	})
	return c, nil
}

var anything = aws.String("*")

// put stores an object with one request, after more has completed its input, and returns its ETag.
func (c *client) put(limit time.Duration, key string, body io.Reader, size int64, more func(in *s3.PutObjectInput)) (etag string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	in := &s3.PutObjectInput{
		Bucket: &c.bucket, Key: &key, Body: body, ContentLength: &size, ContentType: typeOf(key),
		ServerSideEncryption: types.ServerSideEncryption(c.opt.SSE),
	}
	more(in)
	out, err := c.api.PutObject(ctx, in)
	if err != nil {
		return "", c.explain(err)
	}
	return plainETag(out.ETag), nil
}

// putNew stores a small object and returns its ETag. It never replaces an object: it returns
// output.ErrExists if the key is in use, possibly by an attempt of this call whose response was
// lost.
func (c *client) putNew(key string, data []byte) (etag string, err error) {
	return c.put(requestTime, key, bytes.NewReader(data), int64(len(data)), func(in *s3.PutObjectInput) { in.IfNoneMatch = anything })
}

// putOver stores an object and replaces any existing one.
func (c *client) putOver(key string, body io.Reader, size int64) error {
	_, err := c.put(sendTime, key, body, size, func(*s3.PutObjectInput) {})
	return err
}

// summed makes the service check an object's SHA-256 and sets the storage class of files.
func (c *client) summed(in *s3.PutObjectInput, sum []byte) {
	in.ChecksumSHA256 = aws.String(base64.StdEncoding.EncodeToString(sum))
	in.StorageClass = types.StorageClass(c.opt.StorageClass)
}

// isInParts reports whether a file of this size is sent in parts.
func (c *client) isInParts(size int64) bool { return size >= c.partsFrom }

// sendNew stores a file whose SHA-256 is sum, as putNew does.
func (c *client) sendNew(key string, f *os.File, size int64, sum []byte) error {
	c.sends <- struct{}{}
	defer func() { <-c.sends }()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if !c.isInParts(size) {
		_, err := c.put(sendTime, key, f, size, func(in *s3.PutObjectInput) {
			in.IfNoneMatch = anything
			c.summed(in, sum)
		})
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), sendTime)
	defer cancel()
	_, err := c.parts.UploadObject(ctx, &transfermanager.UploadObjectInput{
		Bucket: &c.bucket, Key: &key, Body: f, IfNoneMatch: anything, ContentType: typeOf(key),
		ServerSideEncryption: transfertypes.ServerSideEncryption(c.opt.SSE),
		StorageClass:         transfertypes.StorageClass(c.opt.StorageClass),
	})
	return c.explain(err)
}

// stored is an object's metadata.
type stored struct {
	etag, made, sum string
	size            int64
}

// head returns an object's metadata. The error is os.ErrNotExist if it is missing.
func (c *client) head(key string) (stored, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTime)
	defer cancel()
	out, err := c.api.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &c.bucket, Key: &key})
	if err != nil {
		return stored{}, c.explain(err)
	}
	return stored{
		etag: aws.ToString(out.ETag), made: out.Metadata[metaMade], sum: out.Metadata[metaSum],
		size: aws.ToInt64(out.ContentLength),
	}, nil
}

// replace stores an object if the current one has this ETag, or if none exists and etag is empty.
// Otherwise it returns output.ErrExists, or an error that is os.ErrNotExist.
func (c *client) replace(key string, body io.Reader, k *keptObject, made, etag string) error {
	_, err := c.put(sendTime, key, body, k.size, func(in *s3.PutObjectInput) {
		c.summed(in, k.sum)
		in.ContentType, in.Metadata = &k.Type, metadataOf(k, made)
		if etag != "" {
			in.IfMatch = &etag
		} else {
			in.IfNoneMatch = anything
		}
	})
	return err
}

// open returns an object, which the caller closes.
func (c *client) open(ctx context.Context, key string) (io.ReadCloser, error) {
	out, err := c.api.GetObject(ctx, &s3.GetObjectInput{Bucket: &c.bucket, Key: &key})
	if err != nil {
		return nil, c.explain(err)
	}
	return out.Body, nil
}

func (c *client) get(key string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTime)
	defer cancel()
	body, err := c.open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxEntry))
	if err != nil {
		return nil, c.explain(err)
	}
	return text, nil
}

// list calls do for each object whose key begins with prefix, in order.
func (c *client) list(prefix string, do func(object) error) error {
	pages := s3.NewListObjectsV2Paginator(c.api, &s3.ListObjectsV2Input{Bucket: &c.bucket, Prefix: &prefix, MaxKeys: c.pageSize})
	return c.eachPage(pages, func(page *s3.ListObjectsV2Output) error {
		for _, o := range page.Contents {
			if err := do(object{aws.ToString(o.Key), plainETag(o.ETag)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// folders returns the names between prefix and the next slash in the keys that begin with prefix,
// which is empty or ends with a slash.
func (c *client) folders(prefix string) ([]string, error) {
	var all []string
	pages := s3.NewListObjectsV2Paginator(c.api, &s3.ListObjectsV2Input{Bucket: &c.bucket, Prefix: &prefix, Delimiter: aws.String("/"), MaxKeys: c.pageSize})
	err := c.eachPage(pages, func(page *s3.ListObjectsV2Output) error {
		for _, p := range page.CommonPrefixes {
			all = append(all, strings.TrimSuffix(strings.TrimPrefix(aws.ToString(p.Prefix), prefix), "/"))
		}
		return nil
	})
	return all, err
}

func (c *client) eachPage(pages *s3.ListObjectsV2Paginator, do func(*s3.ListObjectsV2Output) error) error {
	for pages.HasMorePages() {
		ctx, cancel := context.WithTimeout(context.Background(), requestTime)
		page, err := pages.NextPage(ctx)
		cancel()
		if err != nil {
			return c.explain(err)
		}
		if err := do(page); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) remove(key string) error {
	ctx, cancel := context.WithTimeout(context.Background(), requestTime)
	defer cancel()
	_, err := c.api.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &c.bucket, Key: &key})
	if err = c.explain(err); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// abort aborts the incomplete multipart uploads whose key begins with prefix and for which want is
// true.
func (c *client) abort(prefix string, want func(key string) bool) error {
	pages := s3.NewListMultipartUploadsPaginator(c.api, &s3.ListMultipartUploadsInput{Bucket: &c.bucket, Prefix: &prefix, MaxUploads: c.pageSize})
	for pages.HasMorePages() {
		ctx, cancel := context.WithTimeout(context.Background(), requestTime)
		page, err := pages.NextPage(ctx)
		cancel()
		if err != nil {
			return c.explain(err)
		}
		for _, u := range page.Uploads {
			if !want(aws.ToString(u.Key)) {
				continue
			}
			ctx, cancel := context.WithTimeout(context.Background(), requestTime)
			_, err := c.api.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &c.bucket, Key: u.Key, UploadId: u.UploadId})
			cancel()
			if err = c.explain(err); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// plainETag removes quotes, which only some responses have.
func plainETag(s *string) string { return strings.Trim(aws.ToString(s), `"`) }

// errNoConditions is returned for a service that cannot exclude a second writer.
var errNoConditions = errors.New("the service has no conditional writes (If-None-Match), without which two writers could commit the same records: use one that has, or a directory")

// hints3 maps error codes to advice for people.
var hints3 = map[string]string{
	"NoSuchBucket":          "no such bucket: create it, or name another",
	"AccessDenied":          "access is denied: the credentials must allow s3:ListBucket, GetObject, PutObject, DeleteObject and AbortMultipartUpload",
	"Forbidden":             "access is denied: check the credentials",
	"InvalidAccessKeyId":    "the credentials are not accepted: the access key is not known there",
	"XAdminUserNotFound":    "the credentials are not accepted: the access key is not known there", // Versity's
	"SignatureDoesNotMatch": "the credentials are not accepted: the secret key is wrong",
	"ExpiredToken":          "the credentials have expired",
	"InvalidToken":          "the credentials are not accepted: the session token is wrong",
	"RequestTimeTooSkewed":  "the clock of this machine is wrong",
	"PermanentRedirect":     "the bucket is in another region: name it by --s3-region",

	"AuthorizationHeaderMalformed": "the bucket is in another region: name it by --s3-region",
}

// explain converts an error of the SDK to one for people. It leaves out the request and its
// signature.
func (c *client) explain(err error) error {
	if err == nil {
		return nil
	}
	status := 0
	if answer, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		status = answer.HTTPStatusCode()
	}
	away := status >= http.StatusInternalServerError && status != http.StatusNotImplemented || output.IsCut(err)
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		err = explainAnswer(api, status)
	} else if op, ok := errors.AsType[*smithy.OperationError](err); ok {
		err = op.Err
	}
	if away {
		return fmt.Errorf("bucket %s: %w: %w", c.bucket, output.ErrAway, err)
	}
	return fmt.Errorf("bucket %s: %w", c.bucket, err)
}

// explainAnswer converts an error response of the service.
func explainAnswer(api smithy.APIError, status int) error {
	switch code := api.ErrorCode(); {
	case code == "PreconditionFailed", status == http.StatusPreconditionFailed:
		return output.ErrExists
	case code == "NotImplemented", status == http.StatusNotImplemented:
		return errNotImplemented
	case code == "NoSuchKey", code == "NoSuchUpload", code == "NotFound": // the last is the answer to HEAD
		return fmt.Errorf("%s: %w", code, os.ErrNotExist)
	case hints3[code] != "":
		return fmt.Errorf("%s (%s)", hints3[code], code)
	default:
		return fmt.Errorf("%s: %s", code, api.ErrorMessage())
	}
}

// errNotImplemented is returned for a request that the service does not support.
var errNotImplemented = errors.New("the service does not support this request")

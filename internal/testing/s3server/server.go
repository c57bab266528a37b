// Package s3server runs a real S3 server on loopback, for tests. scripts/versitygw builds its
// program.
package s3server

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"seine/internal/base/childproc"
	"seine/internal/testing/freeport"
)

// Credentials and bucket of the server.
const (
	Key    = "seine-test-key"
	Secret = "seine-test-secret-0123456789"
	Bucket = "seine-test"
)

// SetCredentials sets the credentials of the test server for this process and its children, and
// hides those of this machine.
func SetCredentials() {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": Key, "AWS_SECRET_ACCESS_KEY": Secret, "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		_ = os.Setenv(name, value)
	}
}

// Server is an S3 server that stores objects as files.
type Server struct {
	Addr string

	key, secret string // of its only user

	t        testing.TB
	dir      string
	cmd      *exec.Cmd
	prefixes atomic.Int32
}

// Start starts a server with an empty bucket that runs until the end of the test. Without the
// program it fails in CI and skips the test elsewhere.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, dir: t.TempDir(), Addr: freeport.Addr(t), key: Key, secret: Secret}
	check(t, os.Mkdir(filepath.Join(s.dir, Bucket), 0o755)) // folders are buckets
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

// Start starts the server, also after Kill.
func (s *Server) Start() {
	s.t.Helper()
	s.cmd = exec.Command(Program(s.t), "--port", s.Addr, "--quiet", "posix", s.dir)
	s.cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY_ID="+s.key, "ROOT_SECRET_ACCESS_KEY="+s.secret)
	check(s.t, childproc.Start(s.cmd))
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	for {
		c, err := net.DialTimeout("tcp", s.Addr, time.Second)
		if err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-deadline.C:
			s.t.Fatalf("the S3 server does not start: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// ChangeCredentials restarts the server with credentials other than Key and Secret.
func (s *Server) ChangeCredentials(key, secret string) {
	s.t.Helper()
	s.Kill()
	s.key, s.secret = key, secret
	s.Start()
}

// Program returns the path of the server program. Without it the test fails in CI and is skipped
// elsewhere.
func Program(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	check(t, err)
	for dir != filepath.Dir(dir) {
		p := filepath.Join(dir, ".cache", "bin", "versitygw")
		if _, err := os.Stat(p); err == nil {
			return p
		}
		dir = filepath.Dir(dir)
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no S3 server: scripts/versitygw builds it")
	}
	t.Skip("no S3 server here: scripts/versitygw builds it")
	return ""
}

// Kill kills the server (SIGKILL).
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// Endpoint returns the URL of the server.
func (s *Server) Endpoint() string { return "http://" + s.Addr }

// Out returns a new destination in the bucket for one caller.
func (s *Server) Out() string {
	return fmt.Sprintf("s3://%s/some/p%d", Bucket, s.prefixes.Add(1))
}

// Put stores or replaces an object below a destination.
func (s *Server) Put(out, key string, data []byte) {
	s.t.Helper()
	_, err := s.api().PutObject(s.t.Context(), &s3.PutObjectInput{
		Bucket: aws.String(Bucket), Key: keyBelow(out, key), Body: bytes.NewReader(data),
	})
	check(s.t, err)
}

// Head returns the metadata of an object below a destination.
func (s *Server) Head(out, key string) *s3.HeadObjectOutput {
	s.t.Helper()
	head, err := s.api().HeadObject(s.t.Context(), &s3.HeadObjectInput{Bucket: aws.String(Bucket), Key: keyBelow(out, key)})
	check(s.t, err)
	return head
}

// Keys lists the keys below a destination on the server at an endpoint.
func Keys(t testing.TB, endpoint, out string) (all []string) {
	t.Helper()
	s := &Server{Addr: strings.TrimPrefix(endpoint, "http://"), key: Key, secret: Secret}
	prefix := *keyBelow(out, "")
	pages := s3.NewListObjectsV2Paginator(s.api(), &s3.ListObjectsV2Input{Bucket: aws.String(Bucket), Prefix: aws.String(prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		check(t, err)
		for _, o := range page.Contents {
			all = append(all, strings.TrimPrefix(*o.Key, prefix))
		}
	}
	return all
}

func (s *Server) api() *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(s.Endpoint()), UsePathStyle: true, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider(s.key, s.secret, ""),
	})
}

func keyBelow(out, key string) *string {
	_, prefix, _ := strings.Cut(strings.TrimPrefix(out, "s3://"), "/")
	return aws.String(prefix + "/" + key)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

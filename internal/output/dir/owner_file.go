package dir

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/base/procname"
	"seine/internal/base/sleep"
	"seine/internal/output"
)

// owner describes the owner of a partition, for processes that find its lock held.
type owner struct {
	Created time.Time `json:"created"` // creation time of the stream that it reads
	Host    string    `json:"host"`
	Process int       `json:"process"`
}

func (s *Sink) ownerFile(p int) string {
	return filepath.Join(s.logs, fmt.Sprintf("part-%03d.owner", p))
}

// writeOwner records this process as the owner of p, whose lock it holds. The file is for people,
// so its errors are ignored: the next write reports a full disk.
func (s *Sink) writeOwner(p int, created time.Time) {
	text, err := json.Marshal(owner{created, procname.Host(), os.Getpid()})
	if err != nil {
		return
	}
	file := s.ownerFile(p)
	temp := filepath.Join(s.logs, tempName(filepath.Base(file)))
	err = os.WriteFile(temp, append(text, '\n'), 0o644)
	if err == nil {
		err = os.Rename(temp, file)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
}

// ownerWait is how long to wait for the owner file if a lock is held. The owner writes it as soon
// as it has the lock.
const ownerWait = time.Second

// held returns the error for a partition whose lock is held. A writer of the same stream will
// release it, as its lease has ended; another crawl, with another stream, will not.
func (s *Sink) held(p int, created time.Time) error {
	by, err := s.readOwner(p)
	for began := time.Now(); err != nil && time.Since(began) < ownerWait; by, err = s.readOwner(p) {
		_ = sleep.For(context.Background(), 10*time.Millisecond)
	}
	if err != nil || by.Created.Equal(created) {
		return fmt.Errorf("partition %d of %s: %w", p, s.out, output.ErrHeld)
	}
	return fmt.Errorf("--out %s: %w (process %d on %s): wait for its end, or name another directory", s.out, output.ErrInUse, by.Process, by.Host)
}

func (s *Sink) readOwner(p int) (by owner, err error) {
	text, err := os.ReadFile(s.ownerFile(p))
	if err == nil {
		err = jsontext.Unmarshal(text, &by)
	}
	return by, err
}

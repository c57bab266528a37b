package partition

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/procname"
	"seine/internal/base/sleep"
	"seine/pkg/messages"
)

// ErrTwin is returned by Run if another process with the same owner is running.
var ErrTwin = errors.New("another process has the same identity: its --state was copied from this one, or this one from it, as by a clone of a volume; " +
	"stop one of the two, and give it an empty --state before it starts again")

// claimIdentity returns ErrTwin if another process of this owner is running. Otherwise it answers
// the processes of this owner that start later, until stop is called. If no process is left, as
// after a kill, the server reports that at once. If the connection of a process exists but does not
// answer, claimIdentity waits until the leases of that process have expired.
func (l *Leases) claimIdentity(ctx context.Context) (stop func(), err error) {
	subject := messages.SubjectOwner(l.Group, l.me())
	for end := time.Now().Add(l.ttl); ctx.Err() == nil && time.Now().Before(end); _ = sleep.For(ctx, l.retryInterval()) {
		m, err := l.Bus.NC.Request(subject, nil, l.retryInterval())
		if err == nil {
			return nil, l.twin(string(m.Data))
		}
		if errors.Is(err, nats.ErrNoResponders) {
			break
		}
	}
	process := fmt.Sprintf("process %d of %s", os.Getpid(), procname.Host())
	sub, err := l.Bus.NC.Subscribe(subject, func(m *nats.Msg) { _ = m.Respond([]byte(process)) })
	if err != nil {
		return nil, fmt.Errorf("claim the identity %s: %w", l.Owner, err)
	}
	return func() { _ = sub.Unsubscribe() }, nil
}

// twin returns ErrTwin with the name of the other process.
func (l *Leases) twin(other string) error {
	return fmt.Errorf("%s has the identity %s in the group %s: %w", messages.Clip(other), l.Owner, l.Group, ErrTwin)
}

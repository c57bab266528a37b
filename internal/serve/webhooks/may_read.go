package webhooks

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"seine/internal/ops/records"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// RecordsRefusedError is returned if NATS denies this server reading records.
type RecordsRefusedError struct{ Cause *stages.PermissionError }

func (e *RecordsRefusedError) Error() string {
	return fmt.Sprintf("records: this server lacks the permission to read them (%v); let it connect as a user with it, such as operator, or omit the event records", e.Cause)
}

// Unwrap returns the denied permission.
func (e *RecordsRefusedError) Unwrap() error { return e.Cause }

// recordsRefused converts err if it means that NATS denies reading RECORDS.
func recordsRefused(err error) error {
	if refused, ok := errors.AsType[*stages.PermissionError](err); ok && strings.Contains(refused.Subject, "."+messages.StreamRecords) {
		return &RecordsRefusedError{refused}
	}
	return err
}

// mayRead returns an error if a webhook needs records and NATS denies reading them.
func (s *Service) mayRead(ctx context.Context, h *Hook) error {
	if !h.Wants(NewRecords) {
		return nil
	}
	return recordsRefused(s.cluster.Do(ctx, func(ctx context.Context, bus *stages.Bus) error {
		return records.MayRead(ctx, bus, records.Choice{Crawl: h.Crawl, Kind: h.Kind})
	}))
}

package postgres

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"seine/internal/output"
	"seine/internal/output/sqlsink"
	"seine/pkg/messages"
)

// schemes are the prefixes of a PostgreSQL URL.
var schemes = []string{"postgres://", "postgresql://"}

// Is reports whether out is a PostgreSQL database.
func Is(out string) bool {
	return strings.HasPrefix(out, schemes[0]) || strings.HasPrefix(out, schemes[1])
}

// hidden is shown instead of a DSN that cannot be parsed.
const hidden = "postgres://…"

// Redact returns out without secrets: only user, host, port, database and schema.
func Redact(out string) string {
	t, err := parse(out)
	if err != nil {
		return hidden
	}
	return t.shown
}

// WithoutPassword returns out without its passwords.
func WithoutPassword(out string) string {
	u, err := url.Parse(out)
	if err != nil {
		return Redact(out)
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	q := u.Query()
	for _, secret := range []string{"password", "sslpassword"} {
		q.Del(secret)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// Same reports whether a and b are the same schema of the same database, for any user.
func Same(a, b string) bool {
	x, errX := parse(a)
	y, errY := parse(b)
	if errX != nil || errY != nil {
		return a == b
	}
	c, d := x.config.ConnConfig, y.config.ConnConfig
	return strings.EqualFold(c.Host, d.Host) && c.Port == d.Port && c.Database == d.Database && x.schema == y.schema
}

// Validate returns an error if out is invalid, without repeating it.
func Validate(out string) error {
	_, err := parse(out)
	return err
}

// Table returns the name of a table for SQL that runs anywhere in the database: with its schema,
// unless the DSN has a search path of several schemas.
func Table(out, table string) string {
	t, err := parse(out)
	if err != nil || t.schema == "" || strings.Contains(t.schema, ",") {
		return table
	}
	if !messages.ValidKind(t.schema) {
		return sqlsink.Quoted(t.schema) + "." + table
	}
	return t.schema + "." + table
}

// target is a parsed DSN, completed from the environment.
type target struct {
	config *pgxpool.Config
	schema string // created if missing; "" for a search path of several schemas
	shown  string
}

func parse(out string) (*target, error) {
	config, err := pgxpool.ParseConfig(out)
	if err != nil {
		return nil, fmt.Errorf("--out %s: cannot be read: %w", hidden, reason(err))
	}
	c := config.ConnConfig
	for _, host := range append([]*pgconn.FallbackConfig{{Host: c.Host}}, c.Fallbacks...) {
		if strings.Contains(host.Host, "@") { // part of a password, which may be in any of the hosts
			return nil, fmt.Errorf("--out %s: cannot be read: %w", hidden, errMalformed)
		}
	}
	if c.ConnectTimeout == 0 || c.ConnectTimeout > connectTime && !strings.Contains(out, "connect_timeout") {
		c.ConnectTimeout = connectTime
	}
	if !strings.Contains(out, "pool_max_conns") {
		config.MaxConns = connections
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "seine-writer"
	}
	t := &target{config: config, schema: c.RuntimeParams["search_path"]}
	if t.schema == "" && !strings.Contains(c.RuntimeParams["options"], "search_path") {
		t.schema = schemaName
		c.RuntimeParams["search_path"] = schemaName
	}
	t.shown = show(c.Config, t.schema)
	t.schema = strings.Trim(strings.TrimSpace(t.schema), `"`)
	return t, nil
}

var errMalformed = errors.New("it must be postgres://USER@HOST:PORT/DATABASE?OPTIONS, with what is special in a name or a password percent-encoded, and files that it names must be there")

// reason replaces an error of pgx by one without its text: an unparsable DSN may have a password
// anywhere.
func reason(err error) error {
	if _, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
		return errMalformed
	}
	return errors.New("its options are invalid")
}

// show returns the user, host, port, database and schema of a configuration.
func show(c pgconn.Config, schema string) string {
	u := url.URL{Scheme: "postgres", User: url.User(c.User), Path: "/" + c.Database}
	q := url.Values{}
	port := strconv.Itoa(int(c.Port))
	switch {
	case strings.HasPrefix(c.Host, "/"): // directory of a socket
		q.Set("host", c.Host)
	case c.Port == 5432:
		if u.Host = c.Host; strings.Contains(c.Host, ":") {
			u.Host = "[" + c.Host + "]"
		}
	default:
		u.Host = net.JoinHostPort(c.Host, port)
	}
	if schema != schemaName && schema != "" {
		q.Set("search_path", schema)
	}
	u.RawQuery = q.Encode()
	if s := u.String(); !strings.Contains(c.Database, "@") && (c.Password == "" || len(c.Password) < 3 || !strings.Contains(s, c.Password)) {
		return s
	}
	return hidden // there is a password in an unexpected place
}

// scrub removes the password from an error. pgx takes care not to include it; this is for messages
// of servers and of other versions of pgx.
func (t *target) scrub(err error) error {
	password := t.config.ConnConfig.Password
	if err == nil || len(password) < 3 || !strings.Contains(err.Error(), password) {
		return err
	}
	return &scrubbed{err, strings.ReplaceAll(err.Error(), password, "…")}
}

// scrubbed is an error with a replaced text.
type scrubbed struct {
	err  error
	text string
}

// Error returns the text.
func (s *scrubbed) Error() string { return s.text }

// Unwrap returns the error.
func (s *scrubbed) Unwrap() error { return s.err }

// hints maps error codes of the server to advice for people.
var hints = map[string]string{
	"28P01": "the server refuses the password (of the DSN, PGPASSWORD or the file PGPASSFILE)",
	"28000": "the server refuses this user",
	"3D000": "no such database: create it with CREATE DATABASE",
	"42501": "this role lacks a right: GRANT it, or let another role make the schema and the tables",
	"53100": "the server's disk is full",
	"25006": "the server takes no writes: it is a standby, or set to read only",
	"57P01": "the server is stopping",
	"57P03": "the server is starting or stopping",
	"53300": "the server has no connection left",
}

// Explain implements sqlsink.Dialect. It adds advice to an error.
func (d dialect) Explain(err error) error {
	err = onOneLine(d.scrub(err))
	e, refused := errors.AsType[*pgconn.PgError](err)
	if refused && hints[e.Code] != "" {
		err = fmt.Errorf("%s: %w", hints[e.Code], err)
	}
	if isAway(err) {
		return fmt.Errorf("%w: %w", output.ErrAway, err)
	}
	return err
}

// isAway reports whether the server does not answer now, but may soon.
func isAway(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return slices.Contains(awayCodes, e.Code)
	}
	_, unconnected := errors.AsType[*pgconn.ConnectError](err)
	return unconnected || output.IsCut(err)
}

// awayCodes are the error codes of a server that starts, stops or has no free connections.
var awayCodes = []string{"57P01", "57P02", "57P03", "53300"}

// onOneLine lists each distinct reason of a failed connection once. pgx has a line for each
// attempt, below a line that repeats the DSN.
func onOneLine(err error) error {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); !ok {
		return err
	}
	var reasons []string
	for line := range strings.Lines(err.Error()) {
		_, reason, found := strings.Cut(strings.TrimSpace(line), "): ") // after the address and the host name
		reason = strings.TrimPrefix(reason, "dial error: ")
		if found && !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) == 0 {
		reasons = []string{strings.Join(strings.Fields(err.Error()), " ")}
	}
	return &scrubbed{err, strings.Join(reasons, ", ")}
}

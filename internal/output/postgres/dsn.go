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

// schemes begin what names a database.
var schemes = []string{"postgres://", "postgresql://"}

// Is reports whether out names a database of PostgreSQL.
func Is(out string) bool {
	return strings.HasPrefix(out, schemes[0]) || strings.HasPrefix(out, schemes[1])
}

// hidden stands for a DSN that cannot be read.
const hidden = "postgres://…"

// Redact returns out without secrets: user, host, port, database and schema.
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

// Same reports whether a and b lead to the same schema of the same database, for
// any user.
func Same(a, b string) bool {
	x, errX := parse(a)
	y, errY := parse(b)
	if errX != nil || errY != nil {
		return a == b
	}
	c, d := x.config.ConnConfig, y.config.ConnConfig
	return strings.EqualFold(c.Host, d.Host) && c.Port == d.Port && c.Database == d.Database && x.schema == y.schema
}

// Validate says what is wrong with out, without repeating it.
func Validate(out string) error {
	_, err := parse(out)
	return err
}

// Table is the name of a table as SQL has it from anywhere in the database: with
// its schema, unless the DSN has a search path of several.
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

// target is where a DSN leads, with what the environment adds to it.
type target struct {
	config *pgxpool.Config
	schema string // to be made if there is none; "" where a path of several was given
	shown  string
}

func parse(out string) (*target, error) {
	config, err := pgxpool.ParseConfig(out)
	if err != nil {
		return nil, fmt.Errorf("--out %s: cannot be read: %w", hidden, reason(err))
	}
	c := config.ConnConfig
	for _, host := range append([]*pgconn.FallbackConfig{{Host: c.Host}}, c.Fallbacks...) {
		if strings.Contains(host.Host, "@") { // that of a password, which may be in any of the hosts
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

// reason is what pgx says of a DSN, but none of its text: what cannot be read may
// have a password anywhere.
func reason(err error) error {
	if _, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
		return errMalformed
	}
	return errors.New("its options are not right")
}

// show tells where a configuration leads.
func show(c pgconn.Config, schema string) string {
	u := url.URL{Scheme: "postgres", User: url.User(c.User), Path: "/" + c.Database}
	q := url.Values{}
	port := strconv.Itoa(int(c.Port))
	switch {
	case strings.HasPrefix(c.Host, "/"): // the folder of a socket
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
	return hidden // a password that is not where it should be
}

// scrub takes the password out of an error. pgx is careful not to have it there; this
// is for what a server, or another build of pgx, may say.
func (t *target) scrub(err error) error {
	password := t.config.ConnConfig.Password
	if err == nil || len(password) < 3 || !strings.Contains(err.Error(), password) {
		return err
	}
	return &scrubbed{err, strings.ReplaceAll(err.Error(), password, "…")}
}

// scrubbed is an error with another text.
type scrubbed struct {
	err  error
	text string
}

// Error returns the text.
func (s *scrubbed) Error() string { return s.text }

// Unwrap returns the error.
func (s *scrubbed) Unwrap() error { return s.err }

// hints say for an error of the server what a person can do about it.
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

// Explain implements sqlsink.Dialect. It adds what a person can do about an error.
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

// isAway reports whether a server does not answer, and may soon.
func isAway(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return slices.Contains(awayCodes, e.Code)
	}
	_, unconnected := errors.AsType[*pgconn.ConnectError](err)
	return unconnected || output.IsCut(err)
}

// awayCodes are of a server that starts, stops or is full of connections.
var awayCodes = []string{"57P01", "57P02", "57P03", "53300"}

// onOneLine tells each reason why there is no connection once. pgx has a line for each try, beneath
// one that repeats the DSN.
func onOneLine(err error) error {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); !ok {
		return err
	}
	var reasons []string
	for line := range strings.Lines(err.Error()) {
		_, reason, found := strings.Cut(strings.TrimSpace(line), "): ") // after the address and the name
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

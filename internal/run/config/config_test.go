package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"seine/pkg/crawlspec"
)

type options struct {
	File
	Workers int                `help:"Workers." default:"4"`
	Delay   crawlspec.Duration `help:"Delay." default:"1s"`
	Max     crawlspec.Bytes    `name:"max-body" help:"Largest body." default:"1MiB"`
	Accept  []string           `help:"Types." default:"text/html"`
	Include []string           `help:"Patterns." sep:"none"`
}

// parse reads options from a YAML text, if not empty, and flags.
func parse(t *testing.T, text string, flags ...string) (options, error) {
	t.Helper()
	var o options
	k, err := New(&o, "test", "A test.")
	if err != nil {
		t.Fatal(err)
	}
	if text != "" {
		path := filepath.Join(t.TempDir(), "options.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		flags = append([]string{"--config", path}, flags...)
	}
	_, err = k.Parse(flags)
	return o, err
}

func TestFlagsOverrideEnvironmentOverridesFile(t *testing.T) {
	const text = "workers: 1\ndelay: 2s\nmax_body: 3MiB\naccept: [text/plain, text/html]\n"
	o, err := parse(t, text)
	if err != nil || o.Workers != 1 || time.Duration(o.Delay) != 2*time.Second || o.Max != 3<<20 || len(o.Accept) != 2 {
		t.Errorf("from the file: %+v, %v", o, err)
	}
	t.Setenv("SEINE_WORKERS", "2")
	if o, err = parse(t, text); err != nil || o.Workers != 2 {
		t.Errorf("from the environment: %+v, %v", o, err)
	}
	if o, err = parse(t, text, "--workers", "3"); err != nil || o.Workers != 3 || time.Duration(o.Delay) != 2*time.Second {
		t.Errorf("from the flag: %+v, %v", o, err)
	}
	if o, err = parse(t, "", "--delay", "5s"); err != nil || o.Max != 1<<20 || time.Duration(o.Delay) != 5*time.Second {
		t.Errorf("without a file: %+v, %v", o, err)
	}
}

// A list in the file means the same as the repeated flag, whatever its elements contain.
func TestListsOfTheFileAreRepeatedFlags(t *testing.T) {
	for text, want := range map[string][]string{
		"include: ['/p/*', '/c/*']":     {"/p/*", "/c/*"},
		"include: ['re:/n{1,2}$', 7]":   {"re:/n{1,2}$", "7"},
		"include: 're:/n{1,2}$'":        {"re:/n{1,2}$"},
		"include: []":                   {},
		"include: ['/p/*']\naccept: []": {"/p/*"},
	} {
		o, err := parse(t, text)
		if err != nil || !slices.Equal(o.Include, want) {
			t.Errorf("%s: got %q, %v", text, o.Include, err)
		}
	}
	if o, err := parse(t, "accept: 'text/plain,text/css'"); err != nil || len(o.Accept) != 2 {
		t.Errorf("a text with commas: got %q, %v", o.Accept, err)
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	for name, tt := range map[string]struct {
		text  string
		flags []string
		says  string
	}{
		"unknown key":    {"wokers: 3", nil, `unknown key "wokers": did you mean workers?`},
		"key of a dash":  {"max_bdy: 3", nil, `unknown key "max-bdy": did you mean max-body?`},
		"like no key":    {"records: []", nil, `unknown key "records": keys are named like the flags`},
		"list for one":   {"workers: [3, 4]", nil, "a list is for flags that may be repeated: write one value"},
		"lists in lists": {"accept: [[a]]", nil, "accept: each member of the list must be a plain text"},
		"nested key":     {"fetcher:\n  workers: 3", nil, "fetcher: options are not nested"},
		"not YAML":       {"workers: [", nil, "read configuration file"},
		"bad duration":   {"delay: soon", nil, `duration "soon": write a number and a unit`},
		"bad size":       {"max-body: much", nil, `size "much": write a whole number and a unit`},
		"unknown flag":   {"", []string{"--wokers", "3"}, "unknown flag --wokers"},
		"no such file":   {"", []string{"--config", "missing.yaml"}, "missing.yaml"},
		"not a number":   {"workers: many", nil, "workers"},
		"value too many": {"", []string{"extra"}, "unexpected argument extra"},
	} {
		_, err := parse(t, tt.text, tt.flags...)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: said %v, want %q in it", name, err, tt.says)
		}
	}
}

// The help shows the default of each option.
func TestHelpHasEveryDefault(t *testing.T) {
	var o struct {
		Out     string `arg:"" optional:"" help:"Directory." default:"./out"`
		Workers int    `help:"Workers." default:"4"`
		State   string `help:"State." default:"./state" placeholder:"DIR"`
		Path    string `help:"Folders (default as the format wants)." default:"x" placeholder:"TEMPLATE"`
		Plain   string `help:"Nothing." placeholder:"X" env:"TEST_PLAIN"`
	}
	k, err := New(&o, "test", "A test.")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	k.Stdout, k.Exit = &text, func(int) {}
	_, _ = k.Parse([]string{"--help"})
	words := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{
		"[<out>] Directory (default ./out).", "--workers=4 Workers.", "State (default ./state).", "Folders (default as the format wants).",
		"Nothing ($TEST_PLAIN).",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("it does not say %q, but:\n%s", want, text.String())
		}
	}
}

// --help lists the basic flags of each group and those without a group, --help-all lists all flags.
func TestHelpListsBasicFlags(t *testing.T) {
	help := func(args ...string) string {
		var o struct {
			File
			Plain string `help:"Without a group."`
			Delay string `help:"Basic." group:"pace" basic:""`
			Burst string `help:"Not basic." group:"pace"`
			SSE   string `help:"Not basic." group:"output"`
		}
		var text strings.Builder
		k, err := New(&o, "test", "A test.", kong.Writers(&text, &text), kong.Exit(func(int) {}))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = k.Parse(args)
		return text.String()
	}
	some, all := help("--help"), help("--help-all")
	for _, flag := range []string{"--plain", "--delay", "--config", "--help-all", "Pace:", "SEINE_LOG_LEVEL"} {
		if !strings.Contains(some, flag) || !strings.Contains(all, flag) {
			t.Errorf("%s is not in the help: %s\n%s", flag, some, all)
		}
	}
	for _, flag := range []string{"--burst", "--sse", "Output:"} {
		if strings.Contains(some, flag) || !strings.Contains(all, flag) {
			t.Errorf("%s is not in --help-all alone: %s\n%s", flag, some, all)
		}
	}
	if more := "2 more flags: test --help-all"; !strings.Contains(some, more) || strings.Contains(all, more) {
		t.Errorf("no %q: %s", more, some)
	}
}

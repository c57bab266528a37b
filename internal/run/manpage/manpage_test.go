package manpage

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"seine/internal/run/config"
)

type grammar struct {
	Man    Flag   `hidden:"" help:"Print the manual page." env:"-"`
	Secret string `hidden:"" help:"Nobody is told."`

	Crawl crawl `cmd:"" help:"Crawl sites with everything in one process."`
	Dead  struct {
		List list `cmd:"" help:"List them."`
		Drop drop `cmd:"" help:"Drop some."`
	} `cmd:"" help:"Look at messages that no stage could handle."`
}

type crawl struct {
	Seeds []string `arg:"" optional:"" help:"Where to begin."`
	Delay string   `help:"Least time between two requests." default:"1s"`
	Short bool     `short:"s" help:"Say less."`
}

func (crawl) Help() string {
	return `It's a \path, and
goes on.

  seine crawl https://example.org/ --delay 2s
  .hidden

Exit codes: 0, 1.`
}

type list struct{}

type drop struct {
	Force bool `help:"Ask nobody."`
}

// print returns the page that --man prints.
func print(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	ended := false
	parser, err := config.New(new(grammar), "seine", "A web crawler.", kong.Writers(&out, &out), kong.Exit(func(code int) { ended = code == 0 }))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = config.Parse(parser, args) // errors do not matter after the exit
	if !ended {
		t.Fatalf("%q does not end well: %s", args, out.String())
	}
	return out.String()
}

func TestPageOfACommandTellsWhatItsHelpTells(t *testing.T) {
	got := print(t, "crawl", "--man")
	for _, want := range []string{
		`.TH "SEINE\-CRAWL" "1"`,
		`seine\-crawl \- crawl sites with everything in one process`,
		`\fBseine crawl\fR \fI[<seeds> ...]\fR [\fIflags\fR]`,
		`It\(aqs a \epath, and`,
		".EX\n  seine crawl https://example.org/ \\-\\-delay 2s\n  .hidden\n.EE\n.PP\nExit codes: 0, 1.\n",
		".TP\n\\fB\\-\\-delay\\fR=\\fI\"1s\"\\fR\nLeast time between two requests.\n",
		`\fB\-s\fR, \fB\-\-short\fR`,
		"sets \\-\\-log\\-level.",
		".SH \"SEE ALSO\"\n.BR \"seine\" \"(1)\"\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %q:\n%s", want, got)
		}
	}
}

func TestPageOfAProgramListsItsCommands(t *testing.T) {
	got := print(t, "--man")
	for _, want := range []string{`seine \- a web crawler`, ".TP\n\\fBseine dead\\fR\nLook at messages that no stage could handle.\n", `.BR "seine\-crawl" "(1),"`, `.BR "seine\-dead" "(1)"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %q:\n%s", want, got)
		}
	}
	if hidden := regexp.MustCompile(`secret|man=|Nobody is told`); hidden.MatchString(got) {
		t.Errorf("the page tells what is hidden:\n%s", got)
	}
}

func TestPageOfACommandHasThoseBelowIt(t *testing.T) {
	for _, args := range [][]string{{"dead", "--man"}, {"--man", "dead"}} {
		got := print(t, args...)
		for _, want := range []string{`\fBseine dead list\fR [`, `\fBseine dead drop\fR [`, `\fB\-\-force\fR`} {
			if !strings.Contains(got, want) {
				t.Errorf("the page has no %q:\n%s", want, got)
			}
		}
	}
}

// man displays the pages without a warning.
func TestManReadsThePages(t *testing.T) {
	if _, err := exec.LookPath("man"); err != nil {
		t.Skip("there is no man here")
	}
	for name, args := range map[string][]string{"crawl": {"crawl", "--man"}, "all": {"--man"}, "dead": {"dead", "--man"}} {
		file := filepath.Join(t.TempDir(), name+".1")
		if err := os.WriteFile(file, []byte(print(t, args...)), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("man", "--warnings", "-E", "UTF-8", "-l", file)
		cmd.Env = append(os.Environ(), "MANWIDTH=80", "LC_ALL=C.UTF-8", "MANROFFOPT=")
		var out, complaints bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &complaints
		if err := cmd.Run(); err != nil || complaints.Len() > 0 || !strings.Contains(out.String(), "SYNOPSIS") {
			t.Errorf("man says of %s: %v, %s, %s", name, err, complaints.String(), out.String())
		}
	}
}

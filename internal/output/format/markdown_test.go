package format

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
)

func markdownOf(kind, data string) (string, error) {
	body, _ := NewBody(Markdown)
	var b bytes.Buffer
	err := body.Write(&b, &Record{Kind: kind, Data: []byte(data)})
	return b.String(), err
}

func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ kind, data, want string }{
		{"page", `{"url":"https://a.example/","title":"A: \"b\"","description":"","status":200,"modified":null,"markdown":"# A\n\nb"}`,
			"---\nurl: \"https://a.example/\"\ntitle: \"A: \\\"b\\\"\"\nstatus: 200\n---\n\n# A\n\nb\n"},
		{"page", `{"markdown":""}`, "---\n---\n\n\n"},
		{messages.KindGone, `{"kind":"gone"}`, "{\"kind\":\"gone\"}\n"},
	} {
		if got, err := markdownOf(c.kind, c.data); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.data, got, err, c.want)
		}
	}
	unfit := new(UnfitError)
	if _, err := markdownOf("product", `{"kind":"product","title":"a"}`); !errors.As(err, &unfit) {
		t.Errorf("a record without Markdown: %v", err)
	}
}

func TestFrontMatterIsYAML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		title := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\"\\\n\t:#-\u0085\u2028\ufeff\u007f\U0001F600")))).Filter(func(s string) bool { return s != "" }).Draw(t, "title")
		o := jsontext.Object{}
		o.Text("title", title)
		o.Text("markdown", "text")
		file, err := markdownOf("page", string(o.End()))
		if err != nil {
			t.Fatal(err)
		}
		var front map[string]string
		if err := yaml.Unmarshal([]byte(strings.Split(file, "\n---\n")[0]), &front); err != nil || front["title"] != title {
			t.Fatalf("%q: got %q, %v", title, front["title"], err)
		}
	})
}

package webhook_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/webhook"
)

func request(t testing.TB, payload string) webhook.Request {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(payload))
	dec.UseNumber()
	r := webhook.Request{
		Path: "ci", Headers: map[string]string{"x-event": "push"}, Query: map[string]string{"kind": "nightly"},
		Now: time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC),
	}
	if err := dec.Decode(&r.Payload); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRender(t *testing.T) {
	r := request(t, `{"a":[{"b":"x"},{"b":[1,2.50]}],"n":12345678901234567890,"t":true,"o":{"k":"v"},"null":null,"deep":{"a":{"b":"y"}}}`)
	for template, want := range map[string]string{
		"plain":                                       "plain",
		"{{payload.a[0].b}} {{a[0].b}}":               "x x",
		"{{ a[1].b[1] }}":                             "2.50",
		"{{n}} {{t}} {{o}}":                           `12345678901234567890 true {"k":"v"}`,
		"[{{null}}{{none}}{{a[9].b}}{{a.b}}]":         "[]",
		"{{a[-1].b}}{{a[x]}}{{a[0]b}}":                "x",
		"{{deep.a.b}}{{deep..a}}":                     "y",
		"{{headers.X-Event}}/{{query.kind}}/{{path}}": "push/nightly/ci",
		"{{now}}":                        "2026-11-22T08:00:00.000Z",
		"open {{a[0].b":                  "open {{a[0].b",
		"{{__proto__.x}}{{constructor}}": "",
		"All: {{ payload }}": `All: {"a":[{"b":"x"},{"b":[1,2.50]}],"deep":{"a":{"b":"y"}},"n":12345678901234567890,"null":null,` +
			`"o":{"k":"v"},"t":true}`,
		"[{{payload[0].b}}]": "[]",
	} {
		if got := webhook.Render(template, r); got != want {
			t.Errorf("%q: %q, want %q", template, got, want)
		}
	}
	for payload, want := range map[string]string{ // {{payload}} {{payload.payload}} {{payload[0].b}}
		`{"payload":"inner"}`:     `{"payload":"inner"} inner `,
		`[{"b":"x"}]`:             `[{"b":"x"}]  x`,
		`{}`:                      `{}  `,
		`{"payload":[{"b":"x"}]}`: `{"payload":[{"b":"x"}]} [{"b":"x"}] x`,
		`"text"`:                  `text  `,
	} {
		if got := webhook.Render("{{payload}} {{payload.payload}} {{payload[0].b}}", request(t, payload)); got != want {
			t.Errorf("%s: %q, want %q", payload, got, want)
		}
	}
	if got := webhook.Render(strings.Repeat("{{payload}}", 1<<16), r); len(got) > webhook.MaxRendered {
		t.Errorf("%d bytes", len(got))
	}
	if got := webhook.Render(strings.Repeat("{{o}}", 1<<20), r); len(got) > webhook.MaxRendered {
		t.Errorf("%d bytes", len(got))
	}
	if own, rest := webhook.Own("Summarize this.\nKeep it short.\nFrom {{a}}: {{b}}\nend"); own != "Summarize this.\nKeep it short.\n" ||
		rest != "From {{a}}: {{b}}\nend" {
		t.Errorf("%q, %q", own, rest)
	}
	if own, rest := webhook.Own("{{a}} and more"); own != "" || rest != "{{a}} and more" {
		t.Errorf("%q, %q", own, rest)
	}
}

func FuzzRender(f *testing.F) {
	f.Add("{{payload.a[0].b}}")
	f.Add("{{a[0]..[1}}")
	f.Fuzz(func(t *testing.T, template string) {
		r := request(t, `{"a":[{"b":"x"}],"b":{"c":[[1]]}}`)
		webhook.Render(template, r)
		if own, rest := webhook.Own(template); own+rest != template {
			t.Errorf("%q became %q and %q", template, own, rest)
		}
	})
}

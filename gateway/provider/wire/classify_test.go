package wire

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// testdata/bodies.tsv holds failures as services word them: class, status (0
// inside a stream), body.
func TestFault_F_PROV_02_bodies(t *testing.T) {
	raw, err := os.ReadFile("testdata/bodies.tsv")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		class, rest, _ := strings.Cut(line, "\t")
		status, body, ok := strings.Cut(rest, "\t")
		code, err := strconv.Atoi(status)
		if !ok || err != nil {
			t.Fatalf("bad row %q", line)
		}
		n++
		if got := classify(code, []byte(body)); got != model.Class(class) {
			t.Errorf("HTTP %d is %s, want %s: %s", code, got, class, body)
		}
	}
	if n < 40 {
		t.Errorf("only %d rows", n)
	}
}

func TestWords(t *testing.T) {
	tests := []struct{ body, want string }{
		{`{"error":{"message":"a","type":"b"}}`, "a"},
		{`{"error":"a"}`, "a"},
		{`[{"error":{"message":"a"}}]`, "a"},
		{`{"message":"a"}`, "a"},
		{`{"detail":"a"}`, "a"},
		{`{"detail":[{"msg":"a"}]}`, `{"detail":[{"msg":"a"}]}`},
		{`{"error":{"code":3}}`, `{"code":3}`},
		{`{"error":null,"message":"a"}`, "a"},
		{`plain`, "plain"},
		{`[]`, "[]"},
		{``, ""},
		{`<html><body><p>a</p><p>b</p></body></html>`, "a web page: a b"},
		{`<!doctype html><title>a</title>x`, "a web page: a"},
		{`<!doctype html><title></title>x`, "a web page: x"},
		{`<!doctype html><title`, "a web page:"},
	}
	for _, tt := range tests {
		if got := Clean(words([]byte(tt.body)), 200); got != tt.want {
			t.Errorf("%s gives %q, want %q", tt.body, got, tt.want)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add(429, `{"error":{"message":"Rate limit","code":"429"}}`)
	f.Add(0, `[{"error":"x"}]`)
	f.Add(403, "<html><title>x</title>")
	f.Fuzz(func(t *testing.T, status int, body string) {
		if classify(status, []byte(body)) == "" {
			t.Error("no class")
		}
		words([]byte(body))
	})
}

package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

const canary = `C4nary/+key"with\odd<signs>&é=0123456789`

func TestSec_A_SEC_02_EveryFormOfAValue(t *testing.T) {
	var r Redactor
	r.Add(canary, "short", "  spaced-value-1 ")
	j, err := json.Marshal(canary)
	if err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]string{
		"raw": canary, "JSON": string(j[1 : len(j)-1]), "query": url.QueryEscape(canary), "path": url.PathEscape(canary),
		"hex": hex.EncodeToString([]byte(canary)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(canary))),
		"base64": base64.StdEncoding.EncodeToString([]byte(canary)), "base64url": base64.RawURLEncoding.EncodeToString([]byte(canary)),
		"base64 of user:key":  base64.StdEncoding.EncodeToString([]byte("u:" + canary)),
		"base64 of user2:key": base64.StdEncoding.EncodeToString([]byte("us:" + canary + "!")),
		"trimmed":             "spaced-value-1",
	} {
		got := r.Text("before " + form + " after, and again " + form)
		if strings.Count(got, Mark) != 2 || !strings.HasPrefix(got, "before ") || strings.Contains(got, form[4:len(form)-4]) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := r.Text("a short word"); got != "a short word" {
		t.Errorf("a short value was hidden: %q", got)
	}
}

func TestSec_A_SEC_02_ShapesOfKeys(t *testing.T) {
	var r Redactor
	pem := "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc=\n-----END RSA PRIVATE KEY-----"
	for _, key := range []string{
		"sk-abcDEF0123456789abcdef", "sk-ant-api03-abcDEF_0123456789-abcdef", "sk-proj-0123456789abcdefghij",
		"AIzaSyA1234567890abcdefghijklmnopqrstuv",
		"ghp_0123456789abcdefghijABCDEFGHIJ012345", "github_pat_11ABCDEFG0123456789_abcdefghij", "xoxb-123456789012-abcdefghij",
		"AKIAIOSFODNN7EXAMPLE",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
		"123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawx", "gsk_0123456789abcdefghijkl", "hf_abcdefghijklmnopqrstuvwx", pem,
		strings.ReplaceAll(pem, "\n", `\n`),
	} {
		for _, around := range [][2]string{{"", ""}, {"key: ", " end"}, {`{"k":"`, `"}`}, {"a=", "&b=1"}, {"(", ")"}} {
			if got, want := r.Text(around[0]+key+around[1]), around[0]+Mark+around[1]; got != want {
				t.Errorf("%q: got %q, want %q", key, got, want)
			}
		}
	}
	if got := r.Text("Authorization: Bearer abcdef0123456789ABCDEF.xyz\r\n"); got != "Authorization: "+Mark+"\r\n" {
		t.Errorf("bearer: %q", got)
	}
}

func TestWordsStay(t *testing.T) {
	var r Redactor
	for _, s := range []string{
		"sk-learn is a-long-name-of-words-with-hyphens", "sk-this-is-a-long-list-of-words", "task-0123456789abcdefghij", "12:30", "1234567:89",
		"at 2026-11-21T15:49:09", "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----", "AKIAlower0123456789", "Bearer of bad news 2026",
		"eyJ",
		"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "", "é", "https://example.com/a?b=c",
	} {
		if got := r.Text(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestOverlapsAndNeighbours(t *testing.T) {
	var r Redactor
	r.Add("abcdefghij", "fghijklmno", "sk-abcDEF0123456789abcdef")
	for in, want := range map[string]string{
		"abcdefghijklmno": Mark, "abcdefghijabcdefghij": Mark, "xabcdefghijx": "x" + Mark + "x", "sk-abcDEF0123456789abcdef-more99": Mark,
	} {
		got := strings.ReplaceAll(r.Text(in), Mark+Mark, Mark)
		if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestJSONStaysJSON(t *testing.T) {
	var r Redactor
	r.Add(`ab"}cd",{ef`, "plainsecret1")
	for _, in := range []string{
		`{"a":"plainsecret1","b":[1]}`, `{"a":"-----BEGIN PRIVATE KEY-----abc\"","b":"-----END PRIVATE KEY-----"}`, `{"x":"ab"}`,
		`{"k":"Bearer 0123456789abcdefghijkl\\"}`,
	} {
		if out := r.JSON([]byte(in)); !json.Valid(out) || strings.Contains(string(out), "plainsecret1") ||
			strings.Contains(string(out), "KEY-----abc") {
			t.Errorf("%s became %s", in, out)
		}
	}
}

func TestForgetsTheOldest(t *testing.T) {
	var r Redactor
	for i := range maxValues + 3 {
		r.values = append(r.values, "value-"+strings.Repeat("x", 5)+string(rune('a'+i%26))+hex.EncodeToString([]byte{byte(i), byte(i >> 8)}))
	}
	r.Add("the-last-value")
	if len(r.values) != maxValues || r.Text("the-last-value") != Mark {
		t.Errorf("%d values are kept", len(r.values))
	}
}

func TestSec_A_SEC_02_StreamsDoNotLeakAtCuts(t *testing.T) {
	var r Redactor
	r.Add("hidden-value-42", canary)
	text := "say hidden-value-42 and sk-abcDEF0123456789abcdef, " + canary + " then -----BEGIN PRIVATE KEY-----\nMIIEow\n" +
		"-----END PRIVATE KEY----- and 123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawx, Bearer abcdef0123456789ABCDEF done"
	want := r.Text(text)
	for size := 1; size < 40; size++ {
		s := r.Stream()
		var b strings.Builder
		for i := 0; i < len(text); i += size {
			b.WriteString(s.Write(text[i:min(len(text), i+size)]))
		}
		b.WriteString(s.Flush())
		if got := b.String(); got != want {
			t.Fatalf("pieces of %d:\n got %q\nwant %q", size, got, want)
		}
	}
	s := r.Stream()
	if got := s.Write("Just words, shown at once. "); got != "Just words, shown at once. " {
		t.Errorf("held back: %q", got)
	}
}

func FuzzStream(f *testing.F) {
	f.Add("say hidden-value-42 twice hidden-value-42", 3)
	f.Add("-----BEGIN PRIVATE KEY-----\nabc", 5)
	f.Add("hidden-hidden-value-42 12345678:é", 7)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if size < 1 || size > 64 || len(text) > 2000 {
			return
		}
		var r Redactor
		r.Add("hidden-value-42", "value-42-hidden")
		s := r.Stream()
		var b strings.Builder
		for i := 0; i < len(text); i += size {
			b.WriteString(s.Write(text[i:min(len(text), i+size)]))
		}
		b.WriteString(s.Flush())
		if got := b.String(); strings.Contains(got, "hidden-value-42") || strings.Contains(got, "value-42-hidden") {
			t.Fatalf("%q leaked as %q", text, got)
		}
	})
}

func BenchmarkText(b *testing.B) {
	var r Redactor
	for i := range 40 {
		r.Add("secret-value-number-" + hex.EncodeToString([]byte{byte(i), byte(i * 7), 3, 9}))
	}
	line := strings.Repeat(`{"time":"2026-11-21T15:49:09Z","level":"INFO","msg":"a run ended","session":"agent:main:main","ms":1234} `, 600)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if r.Text(line) != line {
			b.Fatal("something was hidden")
		}
	}
}

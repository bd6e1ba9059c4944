package config

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParseAccepts(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{}`, `{}`},
		{"\ufeff{a:1}", `{"a":1}`},
		{"{a:1,}", `{"a":1}`},
		{"// c\n{/*x*/a/**/:/**/1//y\n}// end", `{"a":1}`},
		{`{'a':'it\'s "x"'}`, `{"a":"it's \"x\""}`},
		{`{$a_1: 1, ünï: 2, \u0061b: 3, true: 4, null: 5}`, `{"$a_1":1,"ünï":2,"ab":3,"true":4,"null":5}`},
		{`[+1, -2, .5, 5., 0x1F, -0XfF, 1e3, 1E-2, 0, -0, 0.0]`, `[1,-2,0.5,5,31,-255,1e3,1E-2,0,-0,0.0]`},
		{"['a\\\nb', 'c\\\r\nd', 'e\\\u2028f']", `["ab","cd","ef"]`},
		{`["\b\f\n\r\t\v\x41\u0042\u{" ]`, ``},
		{`["\b\f\n\r\t\v\x41\u0042\q\/"]`, `["\u0008\u000c\n\r\t\u000bABq/"]`},
		{`["\ud83d\ude00"]`, `["😀"]`},
		{"[true,false,null,]", `[true,false,null]`},
		{"{\u00a0a\u2003:\v1\f}", `{"a":1}`},
		{`"text"`, `"text"`},
		{"{a:1}\r", `{"a":1}`},
	} {
		doc, err := parse(c.in)
		if c.want == "" {
			if err == nil {
				t.Errorf("%q was accepted", c.in)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if got := string(doc.standard()); got != c.want {
			t.Errorf("%q: got %s, want %s", c.in, got, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	deep := strings.Repeat("[", 65)
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "line 1, column 1: there are no settings in it; the smallest valid content is {}"},
		{"only a comment", "// x\n", "line 2, column 1: there are no settings in it; the smallest valid content is {}"},
		{"cut", "{a: {b: 1", "line 1, column 10 (a): the file ends before the { of line 1, column 5 is closed"},
		{"cut after colon", "{a:", "line 1, column 4 (a): the file ends where a value was expected"},
		{"comma", "{\n  a: 1\n  b: 2\n}", "line 3, column 3: expected a comma or }, found a word; a comma may be missing before it"},
		{"two commas", "{a: 1,, b: 2}", "line 1, column 7: expected a key, found ,"},
		{"list comma", "{a: [1 2]}", "line 1, column 8 (a): expected a comma or ], found a word; a comma may be missing before it"},
		{"colon", "{a 1}", "line 1, column 4: expected a colon after the key, found a word"},
		{"wrong bracket", "{a: [1}}", "line 1, column 7 (a): expected a comma or ], found }; a comma may be missing before it"},
		{"no value", "{a: }", "line 1, column 5 (a): expected a value, found }"},
		{"dup", "{a: 1,\n 'a': 2}", "line 2, column 2 (a): this key is already set at line 1, column 2; remove one of the two"},
		{"dup deep", `{x: {b: 1, "\u0062": 2}}`, "line 1, column 12 (x.b): this key is already set at line 1, column 6; remove one of the two"},
		{"proto", `{"__proto__": {}}`, "line 1, column 2 (__proto__): the key __proto__ is not allowed"},
		{"dash key", "{my-key: 1}", "line 1, column 2: a key with - or . in it needs quotation marks around it"},
		{"dotted key", "{a.b: 1}", "line 1, column 2: a key with - or . in it needs quotation marks around it"},
		{"open string", "{a: 'x\n}", "line 1, column 5 (a): the text is not closed at the end of its line; a ' may be missing"},
		{"open string at end", "{a: \"x", `line 1, column 5 (a): the text that starts here is never closed; a " is missing`},
		{"open comment", "{a: 1 /* }", "line 1, column 7: this comment is never closed; end it with */"},
		{"slash", "{a: 1 / }", "line 1, column 7: a lone / is not allowed; comments start with // or /*"},
		{"octal escape", `{a: "\1"}`, `line 1, column 6 (a): \1 is not a valid escape; write \\ for a backslash`},
		{"windows path", `{a: "C:\Users\x1"}`, `line 1, column 16 (a): the escape needs 2 hexadecimal digits`},
		{"lone surrogate", `{a: "\ud83d"}`, `line 1, column 6 (a): this \u escape is one half of a pair; the other half is missing`},
		{"zero escape", `{a: "\u0000"}`, "line 1, column 6 (a): a zero character is not allowed"},
		{"on", "{a: on}", "line 1, column 5 (a): on is not a value; write true"},
		{"None", "{a: None}", "line 1, column 5 (a): None is not a value; remove the key instead"},
		{"bare text", "{token: hunter2abc}", "line 1, column 9 (token): text needs quotation marks around it"},
		{"NaN", "{a: NaN}", "line 1, column 5 (a): NaN cannot be used in settings; write a finite number"},
		{"Infinity", "{a: [-Infinity]}", "line 1, column 6 (a[0]): Infinity cannot be used in settings; write a finite number"},
		{"huge", "{a: 1e999}", "line 1, column 5 (a): this number is too large"},
		{"octal", "{a: 0123}", "line 1, column 5 (a): a number may not start with 0; put text in quotation marks"},
		{"version", "{a: 1.2.3}", "line 1, column 5 (a): this is not a number; put text in quotation marks"},
		{"hex", "{a: 0x}", "line 1, column 5 (a): this is not a number; put text in quotation marks"},
		{"long hex", "{a: 0x11112222333344445}", "line 1, column 5 (a): this is not a hexadecimal number of at most 16 digits"},
		{"sign", "{a: +-1}", "line 1, column 5 (a): this is not a number; put text in quotation marks"},
		{"after", "{} {}", "line 1, column 4: nothing may follow the closing bracket, found {"},
		{"list", "[1]", "line 1, column 1: the whole file must be one object { }, found a list [ ]"},
		{"nul", "{a: 1}\x00", "line 1, column 7: a zero byte is not allowed; the file may be damaged"},
		{"utf8", "{\n a: 'ä\xff'}", "line 2, column 7: this byte is not UTF-8; save the file as UTF-8"},
		{"utf16", "\xff\xfe{\x00}\x00", "line 1, column 1: the file is saved as UTF-16; save it as UTF-8"},
		{"columns count characters", "{\"ä😀\": 1, b: }", "line 1, column 14 (b): expected a value, found }"},
		{"crlf", "{\r\n\r\na: }", "line 3, column 4 (a): expected a value, found }"},
		{"bom", "\ufeff}", "line 1, column 1: expected a value, found }"},
		{"control", "{a: \x1b[2J}", "line 1, column 5 (a): expected a value, found the character U+001B"},
		{"deep", deep, "line 1, column 65 (" + strings.Repeat("[0]", 64) + "): brackets are nested deeper than 64"},
	} {
		_, err := parseObject(c.in)
		if err == nil {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		var se *SyntaxError
		if !errors.As(err, &se) {
			t.Errorf("%s: %T", c.name, err)
		}
		if err.Error() != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, err, c.want)
		}
	}
}

func TestParseBounds(t *testing.T) {
	if _, err := parse(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)); err == nil {
		t.Error("10,000 levels were accepted")
	}
	if _, err := parse("[" + strings.Repeat("1,", maxValues) + "]"); err == nil {
		t.Error("too many values were accepted")
	}
	if _, err := parse(`"` + strings.Repeat("x", maxFileBytes) + `"`); err == nil {
		t.Error("too large a text was accepted")
	}
	many := "{"
	for i := range 100 {
		many += "k" + strings.Repeat("x", i) + ":1,"
	}
	if _, err := parse(many + "}"); err != nil {
		t.Error(err)
	}
	if _, err := parse(many + "kxxxxxxxxxxxxxxxxxxxx:1}"); err == nil {
		t.Error("a duplicate in a large object was accepted")
	}
}

func FuzzJSON5(f *testing.F) {
	for _, s := range []string{sample, "{a:1,}", "\ufeff// x\r\n{'a':[0x1F,.5,+1,],}", `{"a":"\u0041\ud83d\ude00\
b"}`, "{a:{b:{c:[[],{}]}}}", "{a:", `{"a":1,"a":2}`, "NaN", "{\xff}", "{a:1e999}", "/*", "[-", "{\\u0061:1}", "'\\x4'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		doc, err := parse(s)
		if err != nil {
			var se *SyntaxError
			if !errors.As(err, &se) || se.Line < 1 || se.Column < 1 || se.Reason == "" || !utf8.ValidString(se.Reason) {
				t.Fatalf("error without a place: %#v", err)
			}
			return
		}
		std := doc.standard()
		var v any
		if err := json.Unmarshal(std, &v); err != nil {
			t.Fatalf("%q became %q: %v", s, std, err)
		}
		again, err := parse(string(std))
		if err != nil || string(again.standard()) != string(std) {
			t.Fatalf("%q became %q, which reads differently: %v", s, std, err)
		}
		if doc.root.kind != kindObject {
			return
		}
		d := &decoder{doc: doc}
		d.decode()
		if _, err := parseObject(doc.redacted(Sections(nil).known())); err != nil {
			t.Fatalf("redacted %q does not parse: %v", s, err)
		}
		fuzzEdit(t, doc)
	})
}

// fuzzEdit sets and removes a key: the rest must stay, value by value and
// comment by comment.
func fuzzEdit(t *testing.T, doc *document) {
	want := comments(doc)
	p := Path{Key("zz new"), Key("b")}
	if _, ok := doc.find(p[:1]); ok {
		return
	}
	text, err := edited(doc.src, []op{{p, &node{kind: kindNumber, text: "1"}}})
	if err != nil {
		if len(doc.src) < 1000 {
			t.Fatalf("set in %q: %v", doc.src, err)
		}
		return
	}
	changed, err := parseObject(text)
	if err != nil {
		t.Fatalf("set in %q gave %q: %v", doc.src, text, err)
	}
	if diff := cmp.Diff(want, comments(changed)); diff != "" {
		t.Fatalf("set in %q gave %q: %s", doc.src, text, diff)
	}
	back, err := parseObject(changed.remove(p[:1]))
	if err != nil {
		t.Fatalf("remove from %q gave %q: %v", text, changed.remove(p[:1]), err)
	}
	if string(back.standard()) != string(doc.standard()) {
		t.Fatalf("set and remove: %q became %q", doc.src, back.src)
	}
	for _, it := range doc.root.items {
		gone, err := parseObject(doc.remove(Path{Key(it.key)}))
		if err != nil {
			t.Fatalf("remove %q from %q gave %q: %v", it.key, doc.src, doc.remove(Path{Key(it.key)}), err)
		}
		if len(gone.root.items) != len(doc.root.items)-1 {
			t.Fatalf("remove %q from %q gave %q", it.key, doc.src, gone.src)
		}
	}
}

func comments(d *document) (out []string) {
	for _, c := range d.comments {
		out = append(out, d.src[c.start:c.end])
	}
	return out
}

func TestPath(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"gateway.port", "gateway.port"},
		{"models.providers.my-id.models[0].name", "models.providers.my-id.models[0].name"},
		{`models.providers["my.id"].baseUrl`, `models.providers["my.id"].baseUrl`},
		{`models.providers.my\.id.baseUrl`, `models.providers["my.id"].baseUrl`},
		{`['a b'].c`, `["a b"].c`},
		{`a.0.b`, "a.0.b"},
	} {
		p, err := ParsePath(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if p.String() != c.want {
			t.Errorf("%s: got %s, want %s", c.in, p, c.want)
		}
	}
	for _, in := range []string{"", " ", ".", "a.", ".a", "a..b", "a[", "a[x]", "a[-1]", "a[+1]", `a["x]`, "a[0]b", `a\`, "a.[0]", "a[]",
		strings.Repeat("a.", 70) + "a"} {
		if p, err := ParsePath(in); err == nil {
			t.Errorf("%q was accepted as %v", in, p)
		}
	}
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"a.b[0]", `a["x.y"]`, `a\.b`, `["\u0041"]`, "[", "a.-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePath(s)
		if err != nil || !utf8.ValidString(s) {
			return
		}
		again, err := ParsePath(p.String())
		if err != nil || again.String() != p.String() {
			t.Fatalf("%q reads as %q, then %v, %v", s, p, again, err)
		}
	})
}

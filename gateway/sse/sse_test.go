package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// collect renders events as "name|data", with "~" after an open one and "!"
// for an error.
func collect(r io.Reader, limit int) []string {
	var got []string
	for ev, err := range Events(r, limit) {
		switch {
		case err != nil:
			got = append(got, "!"+err.Error())
		case ev.Open:
			got = append(got, fmt.Sprintf("%s|%s~", ev.Name, ev.Data))
		default:
			got = append(got, fmt.Sprintf("%s|%s", ev.Name, ev.Data))
		}
	}
	return got
}

func collectLines(r io.Reader, limit int) []string {
	var got []string
	for line, err := range Lines(r, limit) {
		if err != nil {
			got = append(got, "!"+err.Error())
			continue
		}
		if line.Open {
			line.Data = append(line.Data[:len(line.Data):len(line.Data)], '~')
		}
		got = append(got, string(line.Data))
	}
	return got
}

// chunked gives out its data in pieces of the given sizes, over and over.
type chunked struct {
	data  []byte
	sizes []int
	i     int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := min(c.sizes[c.i%len(c.sizes)], len(p), len(c.data))
	c.i++
	copy(p, c.data[:n])
	c.data = c.data[n:]
	return n, nil
}

func TestEvents(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"one", "data: a\n\n", []string{"|a"}},
		{"named", "event: x\ndata: a\n\n", []string{"x|a"}},
		{"name after data", "data: a\nevent: x\n\n", []string{"x|a"}},
		{"name does not stick", "event: x\ndata: a\n\ndata: b\n\n", []string{"x|a", "|b"}},
		{"name without data", "event: x\n\ndata: b\n\n", []string{"|b"}},
		{"no space", "data:a\n\n", []string{"|a"}},
		{"only one space goes", "data:  a\n\n", []string{"| a"}},
		{"lines join", "data: a\ndata: b\n\n", []string{"|a\nb"}},
		{"empty data", "data\n\ndata:\n\n", []string{"|", "|"}},
		{"two empty data", "data\ndata\n\n", []string{"|\n"}},
		{"colon in value", "data: {\"a\":1}\n\n", []string{`|{"a":1}`}},
		{"comments", ": hi\n\n:\ndata: a\n: x\n\n: bye\n\n", []string{"|a"}},
		{"unknown fields", "id: 3\nretry: 5\nfoo\ndata: a\n\n", []string{"|a"}},
		{"crlf", "data: a\r\ndata: b\r\n\r\n", []string{"|a\nb"}},
		{"cr", "data: a\rdata: b\r\r", []string{"|a\nb"}},
		{"mixture", "data: a\rdata: b\ndata: c\r\n\ndata: d\n\r\n", []string{"|a\nb\nc", "|d"}},
		{"bom", "\xef\xbb\xbfdata: a\n\n", []string{"|a"}},
		{"bom only at the start", "data: a\n\n\xef\xbb\xbfdata: b\n\n", []string{"|a"}},
		{"half a bom", "\xef\xbb", nil},
		{"utf-8", "data: häß 🏠\n\n", []string{"|häß 🏠"}},
		{"invalid utf-8 is kept", "data: \xff\xfe\n\n", []string{"|\xff\xfe"}},
		{"open", "data: a\n\ndata: b", []string{"|a", "|b~"}},
		{"open with line end", "data: a\n", []string{"|a~"}},
		{"open comment", "data: a\n\n: b", []string{"|a"}},
		{"nul bytes", "data: a\x00b\n\n", []string{"|a\x00b"}},
		{"prefix of a field", "dat: a\ndataset: b\n\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range readers(tt.in) {
				if diff := cmp.Diff(tt.want, collect(r, 0)); diff != "" {
					t.Errorf("%s: (-want +got)\n%s", name, diff)
				}
			}
		})
	}
}

func readers(in string) map[string]io.Reader {
	return map[string]io.Reader{
		"whole":        strings.NewReader(in),
		"one byte":     iotest.OneByteReader(strings.NewReader(in)),
		"half":         iotest.HalfReader(strings.NewReader(in)),
		"data and EOF": iotest.DataErrReader(strings.NewReader(in)),
		"pieces":       &chunked{data: []byte(in), sizes: []int{1, 3, 2, 7}},
	}
}

func TestLines(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"blank", "\n\r\n \t\n\r", nil},
		{"two", "{\"a\":1}\n{\"b\":2}\n", []string{`{"a":1}`, `{"b":2}`}},
		{"crlf", "{}\r\n[]\r\n", []string{"{}", "[]"}},
		{"no last end", "{}\n[]", []string{"{}", "[]~"}},
		{"bom", "\xef\xbb\xbf{}\n", []string{"{}"}},
		{"space", "  {} \n", []string{"{}"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range readers(tt.in) {
				if diff := cmp.Diff(tt.want, collectLines(r, 0)); diff != "" {
					t.Errorf("%s: (-want +got)\n%s", name, diff)
				}
			}
		})
	}
}

func TestLimit(t *testing.T) {
	long := strings.Repeat("x", 100)
	tests := []struct {
		name, in string
		want     int // events before the error
		fails    bool
	}{
		{"line at the limit", "data: " + long[:94] + "\n\n", 1, false},
		{"line over the limit", "data: a\n\ndata: " + long + "\n\n", 1, true},
		{"open line over the limit", "data: " + long, 0, true},
		{"comment over the limit", ": " + long + "\n\n", 0, true},
		{"event over the limit", strings.Repeat("data: "+long[:40]+"\n", 3) + "\n", 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range readers(tt.in) {
				n, failed := 0, false
				for _, err := range Events(r, 100) {
					if err != nil {
						failed = errors.Is(err, ErrTooLong)
						continue
					}
					n++
				}
				if n != tt.want || failed != tt.fails {
					t.Errorf("%s: %d events, too long %v; want %d, %v", name, n, failed, tt.want, tt.fails)
				}
			}
		})
	}
}

func TestReaderErrors(t *testing.T) {
	boom := errors.New("boom")
	r := io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(boom))
	if diff := cmp.Diff([]string{"|a", "!boom"}, collect(r, 0)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"!" + io.ErrNoProgress.Error()}, collect(stuck{}, 0)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// stuck never makes progress.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// A line that ended with CR must not wait for the byte after it.
func TestCarriageReturnIsNotDelayed(t *testing.T) {
	pr, pw := io.Pipe()
	got := make(chan string)
	go func() {
		defer close(got)
		for ev := range Events(pr, 0) {
			got <- string(ev.Data)
		}
	}()
	if _, err := pw.Write([]byte("data: a\r\r")); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != "a" {
		t.Errorf("got %q", s)
	}
	pw.Close()
	<-got
}

func TestStopEarly(t *testing.T) {
	for range Events(strings.NewReader("data: a\n\ndata: b\n\n"), 0) {
		break
	}
	for range Lines(strings.NewReader("{}\n{}\n"), 0) {
		break
	}
}

func FuzzSSE(f *testing.F) {
	f.Add("event: a\ndata: {\"x\":1}\n\ndata: y\ndata: z\r\n\r\n: ping\n\n", uint8(3))
	f.Add("\xef\xbb\xbfdata: a\r\rdata: b\n\r\n", uint8(1))
	f.Add("data: \xf0\x9f\x8f\xa0\n\ndata", uint8(2))
	f.Fuzz(func(t *testing.T, s string, size uint8) {
		want := collect(strings.NewReader(s), 64)
		for _, r := range []io.Reader{
			iotest.OneByteReader(strings.NewReader(s)),
			&chunked{data: []byte(s), sizes: []int{int(size) + 1, 1}},
		} {
			if diff := cmp.Diff(want, collect(r, 64)); diff != "" {
				t.Fatalf("the cut changes the result (-whole +cut)\n%s", diff)
			}
		}
		for _, ev := range want {
			if strings.ContainsRune(ev, '\r') {
				t.Fatalf("a line end is left in %q", ev)
			}
		}
	})
}

func FuzzNDJSON(f *testing.F) {
	f.Add("{\"a\":1}\r\n\r\n[2]\n3", uint8(3))
	f.Add("\xef\xbb\xbf{}\r{}", uint8(1))
	f.Fuzz(func(t *testing.T, s string, size uint8) {
		want := collectLines(strings.NewReader(s), 64)
		for _, r := range []io.Reader{
			iotest.OneByteReader(strings.NewReader(s)),
			&chunked{data: []byte(s), sizes: []int{int(size) + 1, 1}},
		} {
			if diff := cmp.Diff(want, collectLines(r, 64)); diff != "" {
				t.Fatalf("the cut changes the result (-whole +cut)\n%s", diff)
			}
		}
	})
}

// A deltas-like stream: many small events.
func benchInput(end string) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < 4<<20; i++ {
		fmt.Fprintf(&b, `data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"m","choices":[{"index":0,"delta":{"content":" word%d"},"finish_reason":null}]}`+end+end, i)
	}
	return b.Bytes()
}

func BenchmarkEvents(b *testing.B) {
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
		b.Run(name, func(b *testing.B) {
			in := benchInput(end)
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range Events(bytes.NewReader(in), 0) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkLines(b *testing.B) {
	in := bytes.ReplaceAll(benchInput("\n"), []byte("data: "), nil)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range Lines(bytes.NewReader(in), 0) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkLongLineInSmallReads(b *testing.B) {
	in := []byte("data: " + strings.Repeat("x", 8<<20) + "\n\n")
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		for _, err := range Events(&chunked{data: in, sizes: []int{1 << 10}}, 0) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/sixel"
	"pgregory.net/rapid"
)

func TestChoose(t *testing.T) {
	cell := Size{10, 20}
	for _, c := range []struct {
		name  string
		asked Means
		env   string
		set   func(*Surroundings)
		said  Answers
		want  Means
	}{
		{"kitty", Auto, "TERM=xterm-kitty", nil, Answers{Version: "kitty(0.35.2)", Kitty: true, Cell: cell}, Kitty},
		{"kitty before placeholders", Auto, "TERM=xterm-kitty", nil, Answers{Version: "kitty(0.26.5)", Kitty: true, Cell: cell}, Placed},
		{"ghostty", Auto, "TERM=xterm-ghostty", nil, Answers{Version: "ghostty 1.1.3", Kitty: true, Cell: cell}, Kitty},
		{"konsole", Auto, "TERM=xterm-256color", nil, Answers{Version: "Konsole 22.12.3", Kitty: true, Sixel: true, Cell: cell}, Placed},
		{"iTerm2", Auto, "TERM_PROGRAM=iTerm.app", nil, Answers{Version: "iTerm2 3.5.4", Sixel: true, Cell: cell}, ITerm},
		{"iTerm2 by ssh", Auto, "LC_TERMINAL=iTerm2", nil, Answers{Sixel: true, Cell: cell}, ITerm},
		{"WezTerm", Auto, "TERM_PROGRAM=WezTerm", nil, Answers{Version: "WezTerm 20240203", Kitty: true, Sixel: true, Cell: cell}, ITerm},
		{"xterm", Auto, "TERM=xterm", nil, Answers{Version: "XTerm(379)", Sixel: true, Cell: cell}, Sixel},
		{"xterm, no size of a cell", Auto, "TERM=xterm", nil, Answers{Version: "XTerm(379)", Sixel: true}, Off},
		{"foot", Auto, "TERM=foot", nil, Answers{Version: "foot(1.16)", Sixel: true, Cell: cell}, Sixel},
		{"a variable that was inherited", Auto, "TERM_PROGRAM=iTerm.app", nil, Answers{Version: "XTerm(379)"}, Off},
		{"true colour", Auto, "", func(s *Surroundings) { s.TrueColour = true }, Answers{}, Blocks},
		{"sixteen colours", Auto, "", nil, Answers{}, Off},
		{"NO_COLOR", Auto, "", func(s *Surroundings) { s.NoColour = true }, Answers{Version: "kitty(0.35.2)", Kitty: true}, Off},
		{"NO_COLOR and a wish", Kitty, "", func(s *Surroundings) { s.NoColour = true }, Answers{Version: "kitty(0.35.2)", Kitty: true}, Kitty},
		{"tmux", Auto, "TMUX=/tmp/x", func(s *Surroundings) { s.TrueColour = true },
			Answers{Version: "tmux 3.4", Sixel: true, Cell: cell}, Blocks},
		{"tmux in kitty", Auto, "TMUX=/tmp/x", func(s *Surroundings) { s.Outer = Outer{Version: "kitty(0.35.2)", Passthrough: true} },
			Answers{Version: "tmux 3.4"}, Kitty},
		{"tmux in kitty that hands nothing on", Auto, "TMUX=/tmp/x", func(s *Surroundings) { s.Outer = Outer{Version: "kitty(0.35.2)"} },
			Answers{Version: "tmux 3.4"}, Off},
		{"tmux with sixel", Auto, "TMUX=/tmp/x", func(s *Surroundings) { s.Outer.Sixel = true }, Answers{Sixel: true, Cell: cell}, Sixel},
		{"by ssh from tmux", Auto, "TERM=tmux-256color", nil, Answers{Sixel: true, Cell: cell}, Off},
		{"screen in iTerm2", Auto, "STY=1.tty\nTERM=screen\nLC_TERMINAL=iTerm2", nil, Answers{Sixel: true, Cell: cell}, Off},
		{"what was asked", Sixel, "", nil, Answers{Version: "kitty(0.35.2)", Kitty: true}, Sixel},
		{"kitty was asked, and it is old", Kitty, "", nil, Answers{Version: "kitty(0.26.5)", Kitty: true}, Placed},
	} {
		s := Look(strings.Split(c.env, "\n"))
		if c.set != nil {
			c.set(&s)
		}
		if got := Choose(c.asked, s, c.said); got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
}

// A terminal that would write the question on the screen, or hang it into a title,
// is not asked it.
func TestQuestion(t *testing.T) {
	for env, asks := range map[string]bool{"TERM=xterm": true, "TERM=linux": false, "TMUX=/tmp/x": false, "TERM=screen-256color": false,
		"TERM_PROGRAM=Apple_Terminal": false} {
		q := Look([]string{env}).Question()
		if strings.Contains(q, "\x1b_G") != asks || !strings.HasSuffix(q, ansi.RequestPrimaryDeviceAttributes) {
			t.Errorf("%s is asked %q", env, q)
		}
	}
}

func encoded(t *testing.T, encode func(*bytes.Buffer, image.Image) error, w, h int) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		img.Set(i%w, i/w, color.NRGBA{uint8(i % w), uint8(i / w), 7, 255})
	}
	var b bytes.Buffer
	if err := encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asPNG(b *bytes.Buffer, img image.Image) error { return png.Encode(b, img) }

func TestDecode(t *testing.T) {
	two := &gif.GIF{Delay: []int{1, 1}}
	for _, c := range []color.Color{color.White, color.Black} {
		two.Image = append(two.Image, image.NewPaletted(image.Rect(0, 0, 9, 5), color.Palette{c}))
	}
	webp, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==") // one pixel
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data []byte
		want image.Point
		ext  string
	}{
		"png":  {encoded(t, asPNG, 9, 5), image.Pt(9, 5), ".png"},
		"jpeg": {encoded(t, func(b *bytes.Buffer, img image.Image) error { return jpeg.Encode(b, img, nil) }, 9, 5), image.Pt(9, 5), ".jpg"},
		"gif":  {encoded(t, func(b *bytes.Buffer, _ image.Image) error { return gif.EncodeAll(b, two) }, 9, 5), image.Pt(9, 5), ".gif"},
		"webp": {webp, image.Pt(1, 1), ".webp"},
	} {
		img, err := Decode(c.data)
		if err != nil || img.Bounds().Size() != c.want || Extension(c.data) != c.ext {
			t.Errorf("%s: %v, %v, %q", name, img, err, Extension(c.data))
		}
		if name == "gif" && err == nil {
			if r, _, _, _ := img.At(0, 0).RGBA(); r != 0xffff {
				t.Error("not the first frame of the GIF is shown")
			}
		}
	}
}

// bomb is a PNG whose header promises w times h pixels of eight bytes or four.
func bomb(w, h uint32, depth byte) []byte {
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		_ = binary.Write(&b, binary.BigEndian, uint32(len(data)))
		b.WriteString(kind)
		b.Write(data)
		_ = binary.Write(&b, binary.BigEndian, crc32.ChecksumIEEE(append([]byte(kind), data...)))
	}
	head := binary.BigEndian.AppendUint32(nil, w)
	head = append(binary.BigEndian.AppendUint32(head, h), depth, 6, 0, 0, 0)
	chunk("IHDR", head)
	var z bytes.Buffer
	zw := zlib.NewWriter(&z)
	_, _ = zw.Write(make([]byte, 1<<20))
	_ = zw.Close()
	chunk("IDAT", z.Bytes())
	chunk("IEND", nil)
	return b.Bytes()
}

// Pictures that would take more memory than there may be are refused by their
// headers, before a pixel is read.
func TestSec_A_TTY_04_PictureBombs(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"wide and high": {bomb(1<<20, 1<<20, 8), ErrLarge},
		"much":          {bomb(40_000, 40_000, 8), ErrLarge},
		"deep":          {bomb(5_000, 5_000, 16), ErrLarge},
		"cut off":       {bomb(50, 50, 8)[:60], ErrBroken},
		"bytes":         {make([]byte, maxBytes+1), ErrLarge},
		"words":         {[]byte("\x1b[2J"), ErrKind},
		"nothing":       {nil, ErrKind},
		"no size":       {bomb(0, 7, 8), ErrBroken},
	} {
		var err error
		n := testing.AllocsPerRun(1, func() { _, err = Decode(c.data) })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if n > 10_000 {
			t.Errorf("%s: %f allocations", name, n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 3)))
	f.Add(b.Bytes())
	f.Add([]byte("GIF89a"))
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8 "))
	f.Add([]byte("\xff\xd8\xff"))
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x22Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<12 {
			return
		}
		turnOf(data) // whatever becomes of its pixels
		if img, err := Decode(data); err == nil {
			HalfBlocks(img, Fit(img.Bounds().Dx(), img.Bounds().Dy(), Size{}, Size{20, 8}))
		}
	})
}

func TestFit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, h := rapid.IntRange(-1, 20_000).Draw(rt, "w"), rapid.IntRange(-1, 20_000).Draw(rt, "h")
		cell := Size{rapid.IntRange(0, 40).Draw(rt, "cw"), rapid.IntRange(0, 80).Draw(rt, "ch")}
		room := Size{rapid.IntRange(-3, 500).Draw(rt, "W"), rapid.IntRange(-3, 200).Draw(rt, "H")}
		s := Fit(w, h, cell, room)
		if s.W < 1 || s.H < 1 || s.W > max(1, room.W) || s.H > max(1, room.H) || s.W > most || s.H > most {
			rt.Fatalf("%v", s)
		}
	})
	for _, c := range []struct{ w, h, W, H int }{{100, 100, 10, 5}, {8000, 4000, 40, 10}, {10, 4000, 1, 10}, {1, 1, 1, 1}} {
		if s := Fit(c.w, c.h, Size{10, 20}, Size{80, 10}); s != (Size{c.W, c.H}) {
			t.Errorf("%d×%d takes %v", c.w, c.h, s)
		}
	}
}

// What a token says is read from a screen again, unless it was cut.
func TestFindAndBlank(t *testing.T) {
	size := Size{12, 3}
	rows := Rows(70_000, size)
	lines := []string{"left │   " + rows[1] + "  right", "漢字 │   " + rows[2], "words \U0010EEEE and words", ansi.Truncate(rows[0], 5, "…"), ""}
	wide := func(n int) int {
		if n == 70_000 {
			return size.W
		}
		return 0
	}
	if w := ansi.StringWidth(rows[0]); w != size.W {
		t.Fatalf("a row takes %d cells", w)
	}
	got := Find(lines, wide)
	if len(got) != 1 || got[0] != (Place{70_000, 9, 0, 12, 2, 1}) {
		t.Errorf("%+v", got)
	}
	Blank(lines)
	seen := map[string]bool{}
	for _, l := range lines {
		if strings.Contains(l, "\U0010EEEE") {
			t.Errorf("%q", l)
		}
		if seen[l] {
			t.Errorf("%q is there twice", l)
		}
		seen[l] = true
	}
	if w := ansi.StringWidth(lines[0]); w != 9+12+7 || !strings.HasPrefix(lines[0], "left │   \u2002") ||
		!strings.HasSuffix(lines[0], "  right") {
		t.Errorf("%d cells: %q", w, lines[0])
	}
}

func TestHalfBlocks(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	img.Set(0, 0, color.NRGBA{255, 0, 0, 255})
	img.Set(0, 1, color.NRGBA{0, 255, 0, 255})
	img.Set(1, 1, color.NRGBA{0, 0, 255, 255})
	lines := HalfBlocks(img, Size{3, 1})
	want := "\x1b[0;38;2;255;0;0;48;2;0;255;0m▀\x1b[0;38;2;0;0;255m▄\x1b[0m \x1b[0m"
	if len(lines) != 1 || lines[0] != want {
		t.Errorf("%q", lines)
	}
}

// A piece of a sixel is the rows that it should be, in their colours, and nothing
// where the picture is see-through.
func TestPieceOfSixel(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 20, 60)) // 2×3 cells of 10×20
	for i := range 20 * 60 {
		c := color.NRGBA{255, 0, 0, 255}
		if i/20 >= 20 {
			c = color.NRGBA{0, 0, 255, 255}
		}
		if i%20 >= 10 {
			c.A = 20
		}
		img.Set(i%20, i/20, c)
	}
	s, err := Piece(Sixel, img, Size{2, 3}, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(strings.TrimSuffix(s, "\x1b\\"), "q")
	got, err := new(sixel.Decoder).Decode(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(body, `"1;1;20;40`) || strings.HasSuffix(body, "-") {
		t.Errorf("%.20q … %q", body, body[len(body)-1:])
	}
	for _, at := range []image.Point{{0, 0}, {9, 39}} {
		if r, _, b, a := got.At(at.X, at.Y).RGBA(); r != 0 || b != 0xffff || a == 0 {
			t.Errorf("%v is %v", at, got.At(at.X, at.Y))
		}
	}
	if _, _, _, a := got.At(15, 5).RGBA(); a != 0 {
		t.Errorf("what is see-through is %v", got.At(15, 5))
	}
}

func TestPieceForITerm(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 20, 60))
	s, err := Piece(ITerm, img, Size{2, 3}, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(strings.TrimSuffix(s, "\x07"), ":")
	data, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		t.Fatal(err)
	}
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width != 20 || c.Height != 40 || !strings.Contains(head, "width=2;height=2;") || !strings.Contains(head, "inline=1") {
		t.Errorf("%+v, %v, %q", c, err, head)
	}
}

// Inside of tmux every part is handed on, and none is too long for kitty.
func TestTransmit(t *testing.T) {
	img, err := Decode(encoded(t, asPNG, 200, 200))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Transmit(Kitty, 77, img, Size{10, 5}, false)
	if err != nil {
		t.Fatal(err)
	}
	handed, err := Transmit(Kitty, 77, img, Size{10, 5}, true)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(plain, "i=77") || !strings.Contains(plain, "U=1") || !strings.Contains(plain, "c=10,r=5") {
		t.Errorf("%.80q", plain)
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(plain, "\x1b\\"), "\x1b\\") {
		if !strings.HasPrefix(part, "\x1b_G") || len(part) > 4096+200 {
			t.Errorf("a part of %d bytes: %.20q", len(part), part)
		}
	}
	if strings.Count(handed, "\x1bPtmux;\x1b\x1b_G") != strings.Count(plain, "\x1b_G") || !strings.HasPrefix(Forget(77, true), "\x1bPtmux;") {
		t.Errorf("%.80q", handed)
	}
}

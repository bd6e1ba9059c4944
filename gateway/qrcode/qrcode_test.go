package qrcode

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"strings"
	"testing"

	"rsc.io/qr"
)

func TestPicture(t *testing.T) {
	text := strings.Repeat("oc-pair setup code ", 30)
	url, err := Picture(text)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(url, "data:image/png;base64,"))
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	want, err := qr.Encode(text, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	const quiet, scale = 4, 3 // it is a large one
	if got := img.Bounds().Dx(); got != (want.Size+2*quiet)*scale {
		t.Fatalf("the picture is %d pixels wide for %d modules", got, want.Size)
	}
	for y := range want.Size {
		for x := range want.Size {
			r, _, _, _ := img.At((x+quiet)*scale+1, (y+quiet)*scale+1).RGBA()
			if (r == 0) != want.Black(x, y) {
				t.Fatalf("module %d,%d is wrong", x, y)
			}
		}
	}
	if _, err := Picture(strings.Repeat("x", 4000)); err == nil {
		t.Error("what is too long for a QR code was drawn")
	}
}

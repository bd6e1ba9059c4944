package node

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
)

// pictureParams are how a picture is wanted.
type pictureParams struct {
	Format   string  `json:"format"`   // png, jpg, jpeg
	MaxWidth int     `json:"maxWidth"` // pixels
	Quality  float64 `json:"quality"`  // of a JPEG, 0 to 1
}

// picture is one as the gateway gets it.
type picture struct {
	Format string `json:"format"`
	Base64 string `json:"base64"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

const (
	maxPixels      = 64 << 20
	defaultWidth   = 1600
	defaultQuality = 0.85
)

// encode makes a picture as it is wanted out of one that a program took.
func encode(data []byte, p pictureParams, format string) (picture, error) {
	conf, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return picture{}, fmt.Errorf("what was taken is not a picture: %w", err)
	}
	if conf.Width <= 0 || conf.Height <= 0 || conf.Width > maxPixels/conf.Height/weight(conf.ColorModel) {
		return picture{}, unavailable("the picture of %d × %d pixels is too large", conf.Width, conf.Height)
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return picture{}, fmt.Errorf("what was taken is not a picture: %w", err)
	}
	if p.Format != "" {
		format = p.Format
	}
	width := p.MaxWidth
	if width <= 0 {
		width = defaultWidth
	}
	img = shrink(img, width)
	var b bytes.Buffer
	switch format {
	case "png":
		err = png.Encode(&b, img)
	case "jpg", "jpeg":
		q := p.Quality
		if q <= 0 || q > 1 {
			q = defaultQuality
		}
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: max(1, int(q*100))})
	default:
		return picture{}, invalid("format must be png or jpg")
	}
	if err != nil {
		return picture{}, fmt.Errorf("write the picture: %w", err)
	}
	at := img.Bounds()
	return picture{format, base64.StdEncoding.EncodeToString(b.Bytes()), at.Dx(), at.Dy()}, nil
}

// weight is how much room a pixel takes, in pixels of four bytes.
func weight(m color.Model) int {
	if m == color.NRGBA64Model || m == color.RGBA64Model {
		return 2
	}
	return 1
}

// shrink makes a picture no wider than width: every point is the mean of those
// that it stands for.
func shrink(src image.Image, width int) image.Image {
	at := src.Bounds()
	if at.Dx() <= width {
		return src
	}
	height := max(1, at.Dy()*width/at.Dx())
	dst := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		y0, y1 := at.Min.Y+y*at.Dy()/height, at.Min.Y+(y+1)*at.Dy()/height
		for x := range width {
			x0, x1 := at.Min.X+x*at.Dx()/width, at.Min.X+(x+1)*at.Dx()/width
			dst.SetRGBA(x, y, mean(src, x0, y0, max(x1, x0+1), max(y1, y0+1)))
		}
	}
	return dst
}

func mean(src image.Image, x0, y0, x1, y1 int) color.RGBA {
	var r, g, b, n uint64
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			cr, cg, cb, _ := src.At(x, y).RGBA()
			r, g, b, n = r+uint64(cr), g+uint64(cg), b+uint64(cb), n+1
		}
	}
	return color.RGBA{uint8(r / n >> 8), uint8(g / n >> 8), uint8(b / n >> 8), 255}
}

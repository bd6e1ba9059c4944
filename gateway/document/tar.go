package document

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"github.com/hearth-assistant/hearth/internal/charset"
)

// listTar tells what is in a tar file.
func listTar(t *taker, r io.Reader) error {
	t.d.Kind = Archive
	l := listing{t: t}
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		switch {
		case errors.Is(err, io.EOF):
			return l.done()
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			if p := (*Problem)(nil); errors.As(err, &p) {
				return err
			}
			if l.files == 0 {
				return problem(Broken, "")
			}
			t.d.Notes = append(t.d.Notes, "damaged behind what is listed")
			return l.done()
		case l.files > maxParts*5:
			return problem(Bomb, "more than %d files", maxParts*5)
		}
		l.add(h.Name, h.Size, h.Typeflag == tar.TypeDir)
	}
}

// readGzip lists a packed tar file, or reads the one file that is packed: a log.
func readGzip(t *taker, ext string, data []byte) error {
	t.d.Kind = Archive
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return problem(Broken, "")
	}
	r := &bounded{r: z, left: maxUnpacked}
	head := make([]byte, 512)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return problem(Broken, "")
	}
	whole := io.MultiReader(bytes.NewReader(head[:n]), r)
	if n == 512 && string(head[257:262]) == "ustar" {
		return listTar(t, whole)
	}
	b, err := io.ReadAll(io.LimitReader(whole, maxText+1))
	if p := (*Problem)(nil); errors.As(err, &p) {
		return err
	}
	text, _, ok := charset.Decode(b)
	if !ok {
		t.d.Notes = append(t.d.Notes, "one packed file, "+strings.TrimPrefix(ext, "."))
		return nil
	}
	t.d.Kind = Text
	t.d.Notes = append(t.d.Notes, "unpacked")
	t.part("", text)
	t.d.Cut = t.d.Cut || len(b) > maxText
	if err != nil {
		t.d.Notes = append(t.d.Notes, "damaged behind this text")
	}
	return nil
}

// bounded ends with a Problem where too much comes.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, problem(Bomb, "")
	}
	return n, err
}

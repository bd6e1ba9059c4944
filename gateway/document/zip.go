package document

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

const (
	// maxUnpacked of one archive, and of one file within, are unpacked.
	maxUnpacked = 256 << 20
	maxMember   = 96 << 20
	// maxRatio: what packs better than this, and is large, was made to.
	maxRatio = 400
	// maxListed names of an archive are told.
	maxListed = 500
)

// pack is an open zip file, which hands out what is in it within limits.
type pack struct {
	z    *zip.Reader
	left int64
}

func (p *pack) find(name string) *zip.File {
	for _, f := range p.z.File {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// open unpacks a file; what is too much is an error when it is read.
func (p *pack) open(f *zip.File) (io.ReadCloser, error) {
	if f.Flags&1 != 0 {
		return nil, problem(Encrypted, "")
	}
	if f.UncompressedSize64 > maxMember || f.UncompressedSize64 > 16<<20 && f.UncompressedSize64/max(f.CompressedSize64, 1) > maxRatio {
		return nil, problem(Bomb, "%s", f.Name)
	}
	r, err := f.Open()
	if err != nil {
		return nil, problem(Broken, "%s", f.Name)
	}
	return &counted{r, p, f.Name}, nil
}

type counted struct {
	io.ReadCloser
	p    *pack
	name string
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.p.left -= int64(n)
	switch {
	case c.p.left < 0:
		return n, problem(Bomb, "%s", c.name)
	case err != nil && err != io.EOF:
		return n, problem(Broken, "%s", c.name)
	}
	return n, err
}

// all is a whole file, at most most bytes of it; nil for none.
func (p *pack) all(name string, most int64) ([]byte, error) {
	f := p.find(name)
	if f == nil {
		return nil, nil
	}
	r, err := p.open(f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, most))
}

// readZip tells the formats that are zip files apart.
func readZip(t *taker, data []byte) error {
	t.d.Kind = Archive
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return problem(Broken, "")
	}
	p := &pack{z: z, left: maxUnpacked}
	mime, err := p.all("mimetype", 200)
	if err != nil {
		return err
	}
	kind := strings.TrimSpace(string(mime))
	switch {
	case strings.HasPrefix(kind, "application/epub"):
		return readEPUB(t, p)
	case strings.HasPrefix(kind, "application/vnd.oasis.opendocument."):
		return readODF(t, p, strings.TrimPrefix(kind, "application/vnd.oasis.opendocument."))
	case p.find("word/document.xml") != nil:
		return readDOCX(t, p)
	case p.find("xl/workbook.xml") != nil:
		return readXLSX(t, p)
	case p.find("ppt/presentation.xml") != nil:
		return readPPTX(t, p)
	}
	return listZip(t, z)
}

// listZip tells what is in an archive. Nothing is unpacked, and no archive within.
func listZip(t *taker, z *zip.Reader) error {
	l := listing{t: t}
	for _, f := range z.File {
		if f.Flags&1 != 0 {
			l.locked = true
		}
		l.add(f.Name, int64(min(f.UncompressedSize64, 1<<62)), f.FileInfo().IsDir())
	}
	return l.done()
}

// listing gathers the names in an archive.
type listing struct {
	t      *taker
	b      strings.Builder
	files  int
	bytes  int64
	listed int
	locked bool
}

func (l *listing) add(name string, size int64, folder bool) {
	if folder {
		return
	}
	l.files++
	if l.bytes += max(size, 0); l.bytes < 0 {
		l.bytes = 1 << 62
	}
	if l.listed++; l.listed > maxListed {
		return
	}
	note := ""
	if clean := path.Clean("/" + strings.ReplaceAll(name, "\\", "/")); "/"+strings.TrimPrefix(name, "./") != clean {
		note = "  (an odd path)" // it would lead out of the folder that it is unpacked in
	}
	fmt.Fprintf(&l.b, "%s  %s%s\n", oneLine(name, 200), amount(size), note)
}

func (l *listing) done() error {
	l.t.d.Unit, l.t.d.Total = unitFile, l.files
	note := fmt.Sprintf("%d files, %s unpacked", l.files, amount(l.bytes))
	if l.locked {
		note += ", protected by a password"
	}
	l.t.d.Notes = append(l.t.d.Notes, note)
	if l.listed > maxListed {
		fmt.Fprintf(&l.b, "… and %d more\n", l.listed-maxListed)
	}
	l.t.part("", l.b.String())
	return nil
}

func amount(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%d KB", (n+1023)>>10)
	case n < 1<<40:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return "over 1000 GB"
}

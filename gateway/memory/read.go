package memory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	// MaxLines and maxReadBytes bound one reading.
	MaxLines     = 2000
	maxReadBytes = 48 << 10
)

// Excerpt is a part of a memory file.
type Excerpt struct {
	Path     string
	From, To int // lines; To is From-1 when there are none
	Text     string
	More     bool // there are lines behind
}

// Citation names the excerpt.
func (e Excerpt) Citation() string { return cite(e.Path, e.From, max(e.From, e.To)) }

// Get reads lines of a memory file. from begins at 1, lines 0 means as many as
// fit.
func (x *Index) Get(ctx context.Context, s Scope, rel string, from, lines int) (Excerpt, error) {
	rel, err := s.clean(rel)
	if err != nil {
		return Excerpt{}, err
	}
	h, _, err := x.open(s.Agent, rel)
	if err != nil {
		return Excerpt{}, err
	}
	defer h.Close()
	from = max(from, 1)
	if lines <= 0 || lines > MaxLines {
		lines = MaxLines
	}
	out := Excerpt{Path: rel, From: from, To: from - 1}
	r := bufio.NewReaderSize(h, 64<<10)
	var b strings.Builder
	for at := 1; ; {
		if at%1024 == 0 && ctx.Err() != nil {
			return out, ctx.Err()
		}
		raw, err := r.ReadSlice('\n')
		if at >= from && len(raw) > 0 {
			if at >= from+lines || b.Len()+len(raw) > maxReadBytes {
				out.More = true
				if b.Len() == 0 {
					b.Write(raw[:min(len(raw), maxReadBytes)])
					out.To = at
				}
				break
			}
			b.Write(raw)
			out.To = at
		}
		switch {
		case err == nil:
			at++
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			out.Text = legible(b.String())
			return out, nil
		default:
			return out, fmt.Errorf("read %s: %w", rel, err)
		}
	}
	out.Text = legible(b.String())
	return out, nil
}

// File is a memory file in a list.
type File struct {
	Path    string
	Of      string // whose it is, as Scope.Of
	Size    int64
	Changed time.Time
	Chunks  int
	Why     string // it is not in the index
}

// Files lists the memory files of a scope, the newest first.
func (x *Index) Files(ctx context.Context, s Scope) (out []File, err error) {
	there, err := list(ctx, x.Workspace(s.Agent))
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, f := range there {
		if !s.Has(f.rel) {
			continue
		}
		e := File{Path: f.rel, Of: whose(f.rel), Size: f.size, Changed: f.mtime}
		if have := x.files[fileKey(s.Agent, f.rel)]; have != nil {
			e.Chunks, e.Why = have.chunks(), have.Why
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b File) int { return b.Changed.Compare(a.Changed) })
	return out, nil
}

// legible mends broken text and takes out what would show something else than
// is there: control characters, and those that turn the direction of writing.
func legible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c, r == 0xfeff:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

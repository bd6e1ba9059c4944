package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// same compares two folders of packages byte for byte, and says of an archive that
// differs what in it does.
func same(args []string) error {
	if len(args) != 2 {
		return errors.New("same needs two folders")
	}
	differ, n, err := compare(args[0], args[1])
	if err != nil {
		return err
	}
	if len(differ) > 0 {
		return fmt.Errorf("the same commit did not make the same files:\n  %s", strings.Join(differ, "\n  "))
	}
	_, err = fmt.Printf("%d files, bit for bit the same\n", n)
	return err
}

func compare(a, b string) (differ []string, n int, err error) {
	sumsA, err := sumsOf(a)
	if err != nil {
		return nil, 0, err
	}
	sumsB, err := sumsOf(b)
	if err != nil {
		return nil, 0, err
	}
	if len(sumsA) == 0 {
		return nil, 0, errors.New(a + " is empty")
	}
	for name, sum := range sumsA {
		switch other, found := sumsB[name]; {
		case !found:
			differ = append(differ, name+": only in the first")
		case other != sum:
			differ = append(differ, name+": "+inside(filepath.Join(a, name), filepath.Join(b, name)))
		}
	}
	for name := range sumsB {
		if _, found := sumsA[name]; !found {
			differ = append(differ, name+": only in the second")
		}
	}
	slices.Sort(differ)
	return differ, len(sumsA), nil
}

// inside says where two files begin to differ: which entry of an archive, else which byte.
func inside(a, b string) string {
	x, xerr := entries(a)
	y, yerr := entries(b)
	if xerr == nil && yerr == nil {
		for i, e := range x {
			if i >= len(y) || y[i] != e {
				return "from its entry " + e.name + " on" + e.unlike(y, i)
			}
		}
	}
	one, err := os.ReadFile(a)
	two, err2 := os.ReadFile(b)
	if err = errors.Join(err, err2); err != nil {
		return err.Error()
	}
	for i := range one {
		if i >= len(two) || one[i] != two[i] {
			return fmt.Sprintf("from byte %d of %d and %d on", i, len(one), len(two))
		}
	}
	return fmt.Sprintf("%d and %d bytes long", len(one), len(two))
}

// entry is all that an archive says of one file.
type entry struct {
	name, about, sum string
}

func (e entry) unlike(others []entry, i int) string {
	if i >= len(others) || others[i].name != e.name {
		return ": other entries"
	}
	if others[i].sum != e.sum {
		return ": other content"
	}
	return fmt.Sprintf(": %s, and %s", e.about, others[i].about)
}

func entries(file string) ([]entry, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasSuffix(file, ".tar.gz"):
		return inTar(data)
	case strings.HasSuffix(file, ".zip"):
		return inArchive(data)
	}
	return nil, errors.ErrUnsupported
}

func inTar(data []byte) (all []entry, err error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		_, sum, err := digest(r)
		if err != nil {
			return nil, err
		}
		all = append(all, entry{h.Name, fmt.Sprintf("%o %d:%d %s:%s %s", h.Mode, h.Uid, h.Gid, h.Uname, h.Gname, h.ModTime.UTC()), sum})
	}
}

func inArchive(data []byte) (all []entry, err error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		_, sum, err := digest(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
		all = append(all, entry{f.Name, fmt.Sprintf("%s %s", f.Mode(), f.Modified.UTC()), sum})
	}
	return all, nil
}

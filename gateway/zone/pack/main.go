// Command pack makes gateway/zone/packed out of the list that Go brings along
// (lib/time/zoneinfo.zip): go generate ./gateway/zone, after an update of Go.
package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"go/build"
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := pack("packed"); err != nil {
		log.Fatal(err)
	}
}

func pack(dir string) error {
	z, err := zip.OpenReader(filepath.Join(build.Default.GOROOT, "lib", "time", "zoneinfo.zip"))
	if err != nil {
		return err
	}
	defer func() { _ = z.Close() }()
	parts := map[string]*bytes.Buffer{}
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		part, _, two := strings.Cut(f.Name, "/")
		if !two {
			part = "Others"
		}
		if parts[part] == nil {
			parts[part] = &bytes.Buffer{}
		}
		r, err := f.Open()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		fmt.Fprintf(parts[part], "%s\n%04d\n%s", f.Name, len(data), data)
	}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		var out bytes.Buffer
		w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := w.Write(parts[part].Bytes()); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, part+".gz"), out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

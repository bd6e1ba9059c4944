package media_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/media"
)

// What a picture is, its bytes say: nothing that a browser or a viewer would run
// passes for one, whatever it is called.
func TestSec_A_FILE_06_TypeConfusion(t *testing.T) {
	png := pngOf(t)
	for name, data := range map[string][]byte{
		"html":                 []byte("<!doctype html><script>alert(1)</script>"),
		"html behind a bom":    []byte("\xef\xbb\xbf<html>"),
		"svg":                  []byte("<?xml version='1.0'?><svg onload='x'/>"),
		"pdf":                  []byte("%PDF-1.7\n"),
		"pdf that says png":    append([]byte("%PDF-1.7\n"), png...),
		"script":               []byte("#!/bin/sh\nid"),
		"only a png signature": png[:8],
		"gif signature, js":    []byte("GIF89a=1;alert(1)//"),
		"bmp":                  []byte("BM0000000000000000000000000000"),
		"ico":                  {0, 0, 1, 0, 1, 0, 0, 0, 0, 0},
		"riff that is a wave":  []byte("RIFF\x00\x00\x00\x00WAVEfmt "),
	} {
		if p, err := media.Judge(data); err == nil && name != "gif signature, js" || err == nil && p.MIME != "image/gif" {
			t.Errorf("%s is taken for %s", name, p.MIME)
		}
	}
}

// A picture of more pixels than fit is refused by its header, before anything is
// unpacked.
func TestSec_A_FILE_07_PixelBombs(t *testing.T) {
	for _, size := range [][2]uint32{{50_000, 50_000}, {1 << 31, 1}, {40_000_001, 1}, {6_325, 6_325}} {
		bomb := bytes.Clone(pngOf(t))
		binary.BigEndian.PutUint32(bomb[16:], size[0])
		binary.BigEndian.PutUint32(bomb[20:], size[1])
		binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
		if _, err := media.Judge(bomb); !errors.Is(err, media.ErrPixels) && !errors.Is(err, media.ErrBroken) {
			t.Errorf("%v: %v", size, err)
		}
	}
}

// Pictures have a limit of their own; those that are there stay readable.
func TestSec_A_FILE_13_PicturesHaveALimit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "media")
	first := pngOf(t)
	s := media.New(dir).Limit(int64(len(first)) + 10)
	p, err := s.Put(first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(webpOf("VP8L", 0x2f, 2, 0x40, 0, 0)); !errors.Is(err, media.ErrFull) {
		t.Errorf("one too many: %v", err)
	}
	if _, err := s.Put(first); err != nil {
		t.Errorf("the same again costs nothing: %v", err)
	}
	if _, _, err := s.Get(p.ID); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files", len(left))
	}
}

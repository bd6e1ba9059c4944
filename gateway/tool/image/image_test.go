package image_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	stdimage "image"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/image"
)

type web struct {
	page  egress.Page
	err   error
	asked []egress.Request
}

func (w *web) Fetch(_ context.Context, r egress.Request) (egress.Page, error) {
	w.asked = append(w.asked, r)
	return w.page, w.err
}

// world is the tool with a workspace, a web and a model that sees.
type world struct {
	*image.Tool
	dir, outside string
	web          *web
	looked       []model.Image
}

func newWorld(t *testing.T) *world {
	w := &world{dir: t.TempDir(), outside: t.TempDir(), web: &web{}}
	state := t.TempDir()
	w.Tool = &image.Tool{
		Find: safepath.Finder{Home: t.TempDir(), Private: []string{state}}, Fetcher: w.web, Secret: func(s string) bool {
			return strings.Contains(s, "hush")
		},
		Look: func(_ context.Context, _ tool.Call, _, prompt string, pic model.Image) (string, model.Ref, error) {
			w.looked = append(w.looked, pic)
			return "I see. " + prompt, model.Ref{Provider: "eye", Model: "sharp"}, nil
		},
	}
	return w
}

func (w *world) ask(t *testing.T, args map[string]string) (tool.Result, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return w.Run(t.Context(), tool.Call{Scope: tool.Scope{Workspace: w.dir, Owner: true}, Args: raw, Progress: func(string) {}})
}

func picture(t *testing.T, wide, high int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, stdimage.NewGray(stdimage.Rect(0, 0, wide, high))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bomb says that it is as large as it wants to be.
func bomb(t *testing.T, wide, high uint32) []byte {
	raw := picture(t, 1, 1)
	binary.BigEndian.PutUint32(raw[16:], wide)
	binary.BigEndian.PutUint32(raw[20:], high)
	binary.BigEndian.PutUint32(raw[29:], crc32.ChecksumIEEE(raw[12:29]))
	return raw
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestImageFromTheWorkspace(t *testing.T) {
	w := newWorld(t)
	put(t, filepath.Join(w.dir, "sky.png"), picture(t, 4, 3))
	res, err := w.ask(t, map[string]string{"image": "sky.png", "prompt": "What colour?"})
	if err != nil || !strings.Contains(res.Text, "EXTERNAL_UNTRUSTED_CONTENT") || !strings.Contains(res.Text, "I see. What colour?") {
		t.Errorf("%q, %v", res.Text, err)
	}
	if len(w.looked) != 1 || w.looked[0].MIME != "image/png" {
		t.Errorf("it was shown %+v", w.looked)
	}
	if !strings.Contains(string(res.Details), `"width":4`) || !strings.Contains(string(res.Details), "eye/sharp") {
		t.Errorf("%s", res.Details)
	}
}

func TestImageFromTheWeb(t *testing.T) {
	w := newWorld(t)
	w.web.page = egress.Page{Status: http.StatusOK, Body: picture(t, 2, 2)}
	if _, err := w.ask(t, map[string]string{"image": "https://example.com/a.png"}); err != nil {
		t.Fatal(err)
	}
	if r := w.web.asked[0]; r.MaxBytes != media.MaxBytes+1 {
		t.Errorf("it would read %d bytes", r.MaxBytes)
	}
	for name, c := range map[string]struct {
		page  egress.Page
		err   error
		fails string
	}{
		"gone":      {egress.Page{Status: 404}, nil, "HTTP 404"},
		"forbidden": {egress.Page{}, &egress.ForbiddenError{Host: "x", Reason: "it is here"}, "may not be fetched"},
		"endless":   {egress.Page{Status: 200, Truncated: true}, nil, "larger than"},
		"a page":    {egress.Page{Status: 200, Body: []byte("<html>")}, nil, "no picture"},
	} {
		w.web.page, w.web.err = c.page, c.err
		if _, err := w.ask(t, map[string]string{"image": "https://example.com/a.png"}); err == nil || !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v", name, err)
		}
	}
	n := len(w.web.asked)
	if _, err := w.ask(t, map[string]string{"image": "https://example.com/?q=hush"}); err == nil || len(w.web.asked) != n {
		t.Errorf("a secret left: %v", err)
	}
}

// Pictures that are too large are refused by their head, and nothing but the
// workspace and the public web is looked at.
func TestSec_A_FILE_07_ImagesAreJudgedFirst(t *testing.T) {
	w := newWorld(t)
	put(t, filepath.Join(w.dir, "bomb.png"), bomb(t, 50_000, 50_000))
	put(t, filepath.Join(w.dir, "words.png"), []byte("ignore all"))
	put(t, filepath.Join(w.dir, "big.png"), append(picture(t, 1, 1), make([]byte, media.MaxBytes)...))
	put(t, filepath.Join(w.outside, "theirs.png"), picture(t, 2, 2))
	if err := os.Symlink(filepath.Join(w.outside, "theirs.png"), filepath.Join(w.dir, "link.png")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	for name, fails := range map[string]string{
		"bomb.png": "million pixels", "words.png": "no picture", "big.png": "larger than", "link.png": "", "gone.png": "", "../x.png": "",
		filepath.Join(w.outside, "theirs.png"): "copy the picture into the workspace", "/dev/zero": "", "file:///etc/passwd": "https://",
		"http://example.com/a.png":   "https://",
		"data:image/png;base64,AAAA": "https://", "": "missing",
	} {
		if _, err := w.ask(t, map[string]string{"image": name}); err == nil || !strings.Contains(err.Error(), fails) {
			t.Errorf("%q: %v, want %q", name, err, fails)
		}
	}
	if len(w.looked) != 0 || len(w.web.asked) != 0 {
		t.Errorf("%d pictures were shown, %d addresses asked", len(w.looked), len(w.web.asked))
	}
}

func TestImageSaysWhyNobodyCouldLook(t *testing.T) {
	w := newWorld(t)
	put(t, filepath.Join(w.dir, "a.png"), picture(t, 1, 1))
	w.Look = func(context.Context, tool.Call, string, string, model.Image) (string, model.Ref, error) {
		return "", model.Ref{}, errors.New("no model here can see")
	}
	if _, err := w.ask(t, map[string]string{"image": "a.png"}); err == nil || !strings.Contains(err.Error(), "no model here can see") {
		t.Error(err)
	}
}

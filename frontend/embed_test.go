package frontend

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

func TestDistAlwaysHasAnIndex(t *testing.T) {
	b, err := fs.ReadFile(Dist(), "index.html")
	if err != nil {
		t.Fatalf("index.html: %v", err)
	}
	if !strings.Contains(string(b), "Hearth") {
		t.Errorf("index.html does not name the product:\n%s", b)
	}
}

func TestNoticeWhenNotBuilt(t *testing.T) {
	b, err := fs.ReadFile(orNotice(fstest.MapFS{".gitkeep": {}}), "index.html")
	if err != nil {
		t.Fatalf("index.html: %v", err)
	}
	for _, want := range []string{"build/run", "npm run build", "<h1>"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the notice does not say %q", want)
		}
	}
	for _, never := range []string{"<script", "style="} {
		if strings.Contains(string(b), never) {
			t.Errorf("the notice holds %q, which the page's policy forbids", never)
		}
	}
}

func TestBuiltPageIsKept(t *testing.T) {
	b, err := fs.ReadFile(orNotice(fstest.MapFS{"index.html": {Data: []byte("page")}}), "index.html")
	if err != nil || string(b) != "page" {
		t.Fatalf("got %q, %v", b, err)
	}
}

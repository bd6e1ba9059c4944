package server

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// pages serves the web app. Each file is read and compressed once, when it is
// first asked for.
type pages struct {
	files fs.FS

	mu    sync.Mutex // guards cache
	cache map[string]*page
}

type page struct {
	kind    string
	plain   []byte
	zipped  []byte // nil when compression does not pay
	forever bool   // the name holds a hash of the content
}

func newPages(files fs.FS) *pages { return &pages{files: files, cache: make(map[string]*page)} }

const notBuilt = "Hearth is running, but its page is not part of this program. Run build/run, or build it with `npm ci && npm run " +
	"build` in frontend/ and then build Hearth again.\n"

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !readOnly(w, r) {
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	p.serve(w, r, name)
}

// serve answers with a file, or with the page where the address is one of its own.
func (p *pages) serve(w http.ResponseWriter, r *http.Request, name string) {
	pg := p.get(name)
	if pg == nil && (fallsBack(name) || name == "index.html") {
		if pg = p.get("index.html"); pg == nil {
			http.Error(w, notBuilt, http.StatusServiceUnavailable)
			return
		}
	}
	if pg == nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", pg.kind)
	h.Add("Vary", "Accept-Encoding")
	if pg.forever {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body := pg.plain
	if pg.zipped != nil && acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = pg.zipped
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(body)
}

// fallsBack: addresses inside the app are the app's to read; a missing file is
// missing, and so is what programs look for below .well-known/.
func fallsBack(name string) bool {
	return !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "assets/") && !strings.HasPrefix(name, "api/") && kindOf(name) == ""
}

func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if name == "gzip" && strings.ReplaceAll(q, " ", "") != "q=0" {
			return true
		}
	}
	return false
}

// get returns a file of a kind that we serve, or nil.
func (p *pages) get(name string) *page {
	kind := kindOf(name)
	if p.files == nil || kind == "" || !fs.ValidPath(name) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if pg := p.cache[name]; pg != nil {
		return pg
	}
	data, err := fs.ReadFile(p.files, name)
	if err != nil {
		return nil
	}
	pg := &page{kind: kind, plain: data, forever: strings.HasPrefix(name, "assets/")}
	if ready, err := fs.ReadFile(p.files, name+".gz"); err == nil {
		pg.zipped = ready
	} else if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "json") {
		pg.zipped = zip(data)
	}
	p.cache[name] = pg
	return pg
}

// zip compresses, or returns nil when that saves too little.
func zip(data []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil
	}
	if _, err := z.Write(data); err != nil || z.Close() != nil || b.Len() > len(data)*9/10 {
		return nil
	}
	return b.Bytes()
}

// kindOf is our own table: the system's would make the page depend on the machine.
func kindOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".ico":
		return "image/x-icon"
	case ".webp":
		return "image/webp"
	case ".woff2":
		return "font/woff2"
	case ".json":
		return "application/json"
	case ".webmanifest":
		return "application/manifest+json"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return ""
}

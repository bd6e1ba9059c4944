package msteamstest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Site is the only site of SharePoint that there is.
const Site = "contoso.sharepoint.com,2c712604-1370-44e7-a1f5-426573fda80a,2d2244c3-251a-49ea-93a8-39e1c3a060fe"

// mostContent is how much one request to Graph brings.
const mostContent = 4 << 20

// Stored is a file in SharePoint or OneDrive.
type Stored struct {
	ID, Path string
	Data     []byte
	Versions int
	Links    int // that were made
	tag      string
}

func (it *Stored) json() map[string]any {
	return map[string]any{"id": it.ID, "name": path.Base(it.Path), "size": len(it.Data), "eTag": it.tag,
		"webUrl": "https://contoso.sharepoint.com/Shared%20Documents" + (&url.URL{Path: it.Path}).EscapedPath()}
}

// keep makes a file, or a version of one.
func (s *Server) keep(path string, data []byte) *Stored {
	i := slices.IndexFunc(s.drive, func(it *Stored) bool { return it.Path == path })
	if i < 0 {
		s.drive = append(s.drive, &Stored{ID: fmt.Sprintf("01KAFXU2!%d", len(s.drive)), Path: path})
		i = len(s.drive) - 1
	}
	it := s.drive[i]
	it.Data, it.Versions = data, it.Versions+1
	it.tag = fmt.Sprintf(`"{%s},%d"`, newID(i+1), it.Versions)
	if s.oddTags {
		it.tag = `"odd"`
	}
	return it
}

// Drive are the files that were brought.
func (s *Server) Drive() (out []Stored) {
	s.do(func() {
		for _, it := range s.drive {
			out = append(out, *it)
		}
	})
	return out
}

// Right says whether the app has the right to the sites.
func (s *Server) Right(has bool) { s.do(func() { s.right = has }) }

// Links says whether the organisation lets anybody make links, and Tags whether eTags
// have their usual form.
func (s *Server) Links(may bool) { s.do(func() { s.linkless = !may }) }

// Tags is explained at Links.
func (s *Server) Tags(usual bool) { s.do(func() { s.oddTags = !usual }) }

// Share makes a file that a person has at an address of SharePoint.
func (s *Server) Share(address string, f File) { s.do(func() { s.shared[address] = f }) }

func (s *Server) graph(mux *http.ServeMux) {
	const site = "/graph.microsoft.com/v1.0/sites/{site}/drive"
	mux.HandleFunc("PUT "+site+"/{path...}", s.inSite("content", s.content))
	mux.HandleFunc("POST "+site+"/{path...}", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/createLink") {
			s.inSite("link", s.createLink)(w, r)
			return
		}
		s.inSite("session", s.session)(w, r)
	})
	mux.HandleFunc("GET "+site+"/items/{id}", s.inSite("item", s.item))
	mux.HandleFunc("GET /graph.microsoft.com/v1.0/shares/{share}/driveItem/content", s.withGraph("share", s.share))
	mux.HandleFunc("GET /graph.microsoft.com/v1.0/shares/{share}/driveItem", s.withGraph("owner", s.owner))
}

// withGraph checks the token: that of the Bot Connector is for somebody else.
func (s *Server) withGraph(what string, do http.HandlerFunc) http.HandlerFunc {
	return s.locked(what, do, func(w http.ResponseWriter, r *http.Request) bool {
		switch s.tokens[bearerOf(r)] {
		case graphScope:
			if s.right {
				return true
			}
			noGraph(w, http.StatusForbidden, "accessDenied", "Access denied")
		case botScope:
			noGraph(w, http.StatusUnauthorized, "InvalidAuthenticationToken", "Access token validation failure. Invalid audience.")
		default:
			noGraph(w, http.StatusUnauthorized, "InvalidAuthenticationToken", "Lifetime validation failed, the token is expired.")
		}
		return false
	})
}

func noGraph(w http.ResponseWriter, status int, code, words string) {
	answer(w, status, map[string]any{"error": map[string]any{"code": code, "message": words,
		"innerError": map[string]any{"date": "2026-01-01T00:00:00", "request-id": "1-2", "client-request-id": "3-4"}}})
}

func (s *Server) inSite(what string, do http.HandlerFunc) http.HandlerFunc {
	return s.withGraph(what, func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("site") != Site {
			noGraph(w, http.StatusNotFound, "itemNotFound", "Requested site could not be found")
			return
		}
		do(w, r)
	})
}

// pathOf is the path in an address of Graph like root:/a/b:/content.
func pathOf(r *http.Request, end string) (string, bool) {
	in, begins := strings.CutPrefix(r.PathValue("path"), "root:")
	in, ends := strings.CutSuffix(in, ":/"+end)
	return in, begins && ends && path.Clean(in) == in && !strings.ContainsAny(in, `"*:<>?\|`)
}

// free is where a file goes, as the way in which a conflict ends says.
func (s *Server) free(w http.ResponseWriter, in, way string) (string, bool) {
	there := func(p string) bool {
		return slices.ContainsFunc(s.drive, func(it *Stored) bool { return it.Path == p })
	}
	switch {
	case way == "fail" && there(in):
		noGraph(w, http.StatusConflict, "nameAlreadyExists", "The specified item name already exists")
		return "", false
	case way == "rename":
		end := path.Ext(in)
		for n, stem := 1, strings.TrimSuffix(in, end); there(in); n++ {
			in = fmt.Sprintf("%s %d%s", stem, n, end)
		}
	}
	return in, true
}

func (s *Server) content(w http.ResponseWriter, r *http.Request) {
	in, ok := pathOf(r, "content")
	body, err := io.ReadAll(io.LimitReader(r.Body, mostContent+1))
	switch {
	case err != nil:
	case !ok:
		noGraph(w, http.StatusBadRequest, "invalidRequest", "Invalid path")
	case len(body) > mostContent:
		noGraph(w, http.StatusRequestEntityTooLarge, "invalidRequest", "The file is too large for one request")
	default:
		if in, ok = s.free(w, in, r.URL.Query().Get("@microsoft.graph.conflictBehavior")); ok {
			answer(w, http.StatusCreated, s.keep(in, body).json())
		}
	}
}

func (s *Server) session(w http.ResponseWriter, r *http.Request) {
	in, ok := pathOf(r, "createUploadSession")
	var said struct {
		Item struct {
			Way string `json:"@microsoft.graph.conflictBehavior"`
		} `json:"item"`
	}
	if !ok || json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&said) != nil {
		noGraph(w, http.StatusBadRequest, "invalidRequest", "Invalid request")
		return
	}
	if in, ok = s.free(w, in, said.Item.Way); ok {
		id := s.newUpload(in, 0)
		v := s.uploads[id].left()
		v["uploadUrl"] = "https://contoso.sharepoint.com" + uploadsAt + id
		answer(w, http.StatusOK, v)
	}
}

func (s *Server) find(w http.ResponseWriter, id string) *Stored {
	i := slices.IndexFunc(s.drive, func(it *Stored) bool { return it.ID == id })
	if i < 0 {
		noGraph(w, http.StatusNotFound, "itemNotFound", "The resource could not be found.")
		return nil
	}
	return s.drive[i]
}

func (s *Server) createLink(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimSuffix(strings.TrimPrefix(r.PathValue("path"), "items/"), "/createLink")
	it := s.find(w, id)
	var said struct {
		Type  string `json:"type"`
		Scope string `json:"scope"`
	}
	switch {
	case it == nil:
	case json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&said) != nil || said.Type != "view" || said.Scope != "organization":
		noGraph(w, http.StatusBadRequest, "invalidRequest", "Invalid link")
	case s.linkless:
		noGraph(w, http.StatusForbidden, "sharingDisabled", "Sharing has been disabled on this site")
	default:
		status := http.StatusOK // the same link again
		if it.Links++; it.Links == 1 {
			status = http.StatusCreated
		}
		answer(w, status, map[string]any{"id": "1", "roles": []string{"read"}, "link": map[string]any{"type": "view", "scope": "organization",
			"webUrl": "https://contoso.sharepoint.com/:b:/s/town/" + url.PathEscape(id)}})
	}
}

func (s *Server) item(w http.ResponseWriter, r *http.Request) {
	if it := s.find(w, r.PathValue("id")); it != nil {
		v := it.json()
		if strings.Contains(r.URL.Query().Get("$select"), "webDavUrl") { // it is told only when it is asked for
			v["webDavUrl"] = v["webUrl"]
		}
		answer(w, http.StatusOK, v)
	}
}

// sharedAt is the file that a request names.
func (s *Server) sharedAt(w http.ResponseWriter, r *http.Request) (f File, ok bool) {
	encoded, ok := strings.CutPrefix(r.PathValue("share"), "u!")
	address, err := base64.RawURLEncoding.DecodeString(encoded)
	f, known := s.shared[string(address)]
	if ok = ok && err == nil && known; !ok {
		noGraph(w, http.StatusNotFound, "itemNotFound", "The sharing link no longer exists, or you do not have permission to access it.")
	}
	return f, ok
}

// owner tells who a file is of: the app itself changed it last.
func (s *Server) owner(w http.ResponseWriter, r *http.Request) {
	if f, ok := s.sharedAt(w, r); ok {
		answer(w, http.StatusOK, map[string]any{
			"createdBy":      map[string]any{"user": map[string]any{"id": f.Owner, "displayName": "Somebody"}},
			"lastModifiedBy": map[string]any{"application": map[string]any{"id": "1", "displayName": "SharePoint"}},
		})
	}
}

func (s *Server) share(w http.ResponseWriter, r *http.Request) {
	f, ok := s.sharedAt(w, r)
	if !ok {
		return
	}
	s.count++
	at := fmt.Sprint("contoso.sharepoint.com/_layouts/15/download", s.count)
	s.files[at] = f
	w.Header().Set("Location", "https://"+at+"?tempauth=1")
	w.WriteHeader(http.StatusFound)
}

package msteamstest

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

// uploadsAt is where ranges of files are taken.
const uploadsAt = "/_api/v2.0/drive/uploads/"

// An upload takes the ranges of a file in their order.
// https://learn.microsoft.com/en-us/graph/api/driveitem-createuploadsession
type upload struct {
	path string
	size int64 // 0: the first range says it
	data []byte
}

const (
	rangeUnit = 320 << 10
	mostRange = 60 << 20
)

// Upload makes an address that takes the bytes of a file, and returns its end.
func (s *Server) Upload(path string, size int64) (id string) {
	s.do(func() { id = s.newUpload(path, size) })
	return id
}

func (s *Server) newUpload(path string, size int64) string {
	s.count++
	id := fmt.Sprint("u", s.count)
	s.uploads[id] = &upload{path: path, size: size}
	return id
}

func (s *Server) uploadOf(w http.ResponseWriter, r *http.Request) *upload {
	u := s.uploads[r.PathValue("id")]
	switch {
	case r.Header.Get("Authorization") != "":
		no(w, http.StatusUnauthorized, "unauthenticated", "The caller is not authenticated.")
	case u == nil:
		no(w, http.StatusNotFound, "itemNotFound", "The upload session was not found")
	default:
		return u
	}
	return nil
}

func (u *upload) left() map[string]any {
	return map[string]any{"expirationDateTime": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
		"nextExpectedRanges": []string{fmt.Sprintf("%d-", len(u.data))}}
}

func (s *Server) missing(w http.ResponseWriter, r *http.Request) {
	if u := s.uploadOf(w, r); u != nil {
		answer(w, http.StatusOK, u.left())
	}
}

func (s *Server) putRange(w http.ResponseWriter, r *http.Request) {
	u := s.uploadOf(w, r)
	if u == nil {
		return
	}
	var from, to, all int64
	said := r.Header.Get("Content-Range")
	_, err := fmt.Sscanf(said, "bytes %d-%d/%d", &from, &to, &all)
	body, readErr := io.ReadAll(io.LimitReader(r.Body, mostRange+1))
	if readErr != nil {
		return
	}
	if u.size == 0 {
		u.size = all
	}
	size, at := to-from+1, int64(len(u.data))
	switch {
	case err != nil || said != fmt.Sprintf("bytes %d-%d/%d", from, to, all) || from < 0 || to < from || to >= all:
		no(w, http.StatusBadRequest, "invalidRequest", "Invalid Content-Range header")
	case all != u.size:
		no(w, http.StatusBadRequest, "invalidRequest", "The total size is another one")
	case size != int64(len(body)) || r.ContentLength != size:
		no(w, http.StatusBadRequest, "invalidRequest", "Declared fragment length does not match the provided number of bytes")
	case size >= mostRange || to+1 < all && size%rangeUnit != 0:
		no(w, http.StatusBadRequest, "invalidRequest", "A fragment has to be a multiple of 320 KiB, below 60 MiB")
	case from < at:
		no(w, http.StatusRequestedRangeNotSatisfiable, "invalidRange", "The uploaded fragment overlaps with data that has already been received")
	case from > at:
		no(w, http.StatusRequestedRangeNotSatisfiable, "invalidRange", "Optimistic concurrency failure during fragmented upload")
	default:
		u.data = append(u.data, body...)
		if to+1 < all {
			answer(w, http.StatusAccepted, u.left())
			return
		}
		delete(s.uploads, r.PathValue("id")) // the address is used up
		it := s.keep(u.path, u.data)
		answer(w, http.StatusCreated, it.json())
	}
}

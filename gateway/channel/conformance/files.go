package conformance

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"mime"
	"slices"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

// Files are the local files that may be sent in a row. The zero value has none yet.
type Files struct {
	mu   sync.Mutex
	list map[string]local
	// through opens them instead, for a channel that gets its files from another.
	through func(path string) (fs.File, error)
}

// Open opens one of them.
func (f *Files) Open(path string) (fs.File, error) {
	f.mu.Lock()
	through := f.through
	f.mu.Unlock()
	if through != nil {
		return through(path)
	}
	return f.OpenLocal(path)
}

// OpenLocal opens one of them, whatever Through says.
func (f *Files) OpenLocal(path string) (fs.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, ok := f.list[path]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return &reading{local: l, Reader: io.LimitReader(io.MultiReader(bytes.NewReader(l.begins), zeros{}), l.size)}, nil
}

// Through makes Open open files elsewhere: those of a program are in its folder.
func (f *Files) Through(open func(path string) (fs.File, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.through = open
}

func (f *Files) put(path string, begins []byte, size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.list == nil {
		f.list = map[string]local{}
	}
	f.list[path] = local{path, begins, size}
}

// local is a file of a size, with zeros behind what it begins with.
type local struct {
	name   string
	begins []byte
	size   int64
}

// reading is an open one. It is its own fs.FileInfo.
type reading struct {
	local
	io.Reader
}

func (r *reading) Stat() (fs.FileInfo, error) { return r, nil }
func (*reading) Close() error                 { return nil }
func (r *reading) Name() string               { return r.name }
func (r *reading) Size() int64                { return r.size }
func (*reading) Mode() fs.FileMode            { return 0o600 }
func (*reading) ModTime() time.Time           { return time.Time{} }
func (*reading) IsDir() bool                  { return false }
func (*reading) Sys() any                     { return nil }

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// The file that goes and comes: any kind will do that no network shows in its own way.
const (
	fileName, fileMIME = "plan.pdf", "application/pdf"
	fileText           = "%PDF-1.4 what is planned"
)

func testFileOut(t T, s *Setup) {
	s.hasFiles(t)
	s.Files.put(fileName, []byte(fileText), int64(len(fileText)))
	file := channel.Media{MIME: fileMIME, Name: fileName, URL: fileName, Size: int64(len(fileText))}
	r, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "see the plan", Media: []channel.Media{file}})
	if err != nil || r.MessageID == "" {
		t.Fatalf("receipt %+v, %v", r, err)
	}
	files, words := 0, 0
	for _, m := range s.Net.Messages() {
		if m.Text == "see the plan" {
			words++
		}
		for _, f := range m.Files {
			files++
			if f.Name != fileName || string(f.Content) != fileText {
				t.Errorf("the file arrived as %q with %.40q in it, want %q with %q", f.Name, f.Content, fileName, fileText)
			}
		}
	}
	if files != 1 || words != 1 {
		t.Errorf("people see %d files and the words with them %d times: %+v", files, words, s.Net.Messages())
	}
}

func testFilesTogether(t T, s *Setup) {
	s.hasFiles(t)
	names := []string{"one.pdf", "two.pdf"}
	var media []channel.Media
	for _, name := range names {
		s.Files.put(name, []byte(fileText+name), int64(len(fileText+name)))
		media = append(media, channel.Media{MIME: fileMIME, Name: name, URL: name, Size: int64(len(fileText + name))})
	}
	r, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "see both", Media: media})
	if err != nil || r.MessageID == "" {
		t.Fatalf("receipt %+v, %v", r, err)
	}
	var seen []string
	for _, m := range s.Net.Messages() {
		for _, f := range m.Files {
			seen = append(seen, f.Name)
			if string(f.Content) != fileText+f.Name {
				t.Errorf("%q arrived with %.40q in it", f.Name, f.Content)
			}
		}
	}
	if !slices.Equal(seen, names) {
		t.Errorf("people see the files %q, want %q", seen, names)
	}
}

func testFileOutTooLarge(t T, s *Setup) {
	s.hasFiles(t)
	size := s.Channel.Limits().Files + 1
	s.Files.put("large.bin", nil, size)
	file := channel.Media{MIME: "application/octet-stream", Name: "large.bin", URL: "large.bin", Size: size}
	_, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "see", Media: []channel.Media{file}})
	if !errors.Is(err, channel.ErrRefused) {
		t.Errorf("a file of %d bytes, one more than its limits say: %v", size, err)
	}
	if got := s.Net.Messages(); len(got) != 0 {
		t.Errorf("people see %+v", got)
	}
}

// largestMade is the largest file that somebody sends us here.
const largestMade = 32 << 20

func testFileIn(t T, s *Setup) {
	in := s.receiveFile(t, loopback.File{Name: fileName, MIME: fileMIME, Content: []byte(fileText)})
	m := in.Media[0]
	kind, _, _ := mime.ParseMediaType(m.MIME)
	if m.Name != fileName || kind != fileMIME || m.Size != int64(len(fileText)) {
		t.Errorf("the file is %+v, want %s of %d bytes, named %s", m, fileMIME, len(fileText), fileName)
	}
	b, err := s.fetch(t, m)
	if err != nil || string(b) != fileText {
		t.Errorf("fetched: %.40q, %v; want %q", b, err, fileText)
	}
	if b, err := s.fetch(t, channel.Media{URL: "no-such-file", Name: "x"}); err == nil {
		t.Errorf("a file that nobody sent was fetched: %.40q", b)
	}
}

func testFileInTooLarge(t T, s *Setup) {
	size := s.Channel.Limits().Files + 1
	if size == 1 || size > largestMade {
		t.Skipf("cannot: a file above its limit of %d bytes is not made here", size-1)
	}
	in := s.receiveFile(t, loopback.File{Name: "large.bin", MIME: "application/octet-stream", Content: make([]byte, size)})
	if b, err := s.fetch(t, in.Media[0]); err == nil {
		t.Errorf("%d bytes were fetched of a file with %d; %d are allowed", len(b), size, size-1)
	} else if !errors.Is(err, channel.ErrRefused) {
		t.Errorf("fetching a file of %d bytes, one more than is allowed: %v", size, err)
	}
}

// receiveFile lets somebody send a file with the word "look", and waits for it.
func (s *Setup) receiveFile(t T, f loopback.File) channel.Inbound {
	t.Helper()
	net, ok := s.Net.(FileNetwork)
	if !ok {
		t.Fatalf("the channel fetches files: give its network ReceiveFile, or say in Setup.Cannot why it cannot")
	}
	in := s.Inbound
	in.MessageID, in.Text = s.id(1), "look"
	net.ReceiveFile(in, f)
	got := next(t, s, s.got)
	if got.Text != "look" || got.MessageID != s.id(1) || len(got.Media) != 1 {
		t.Fatalf("a message with a file came as %+v", got)
	}
	return got
}

func (s *Setup) fetch(t T, m channel.Media) ([]byte, error) {
	t.Helper()
	f, _ := channel.AsFetcher(s.Channel)
	r, err := f.Fetch(bounded(t, s), m)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// hasFiles: a channel that sends files is tried with some.
func (s *Setup) hasFiles(t T) {
	t.Helper()
	if s.Files == nil {
		t.Fatalf("its limits allow files: set Setup.Files, with its Open as OpenFile of the account, or say in Setup.Cannot why not")
	}
}

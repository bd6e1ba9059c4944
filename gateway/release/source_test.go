package release

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var plain = map[string][]byte{"hearth": []byte("hearth 0.2.0"), "hearth-channels": []byte("hearth-channels 0.2.0")}

// What a source says is believed only when the right keys signed it, when it is not
// older than what was seen, and while its time is not over.
func TestSec_A_UPD_01_WhatASourceSays(t *testing.T) {
	resign := func(p *publisher, keys ...keyPair) { p.sign("stable.json", p.files["stable.json"], keys...) }
	for name, c := range map[string]struct {
		do   func(t *testing.T, p *publisher, h *person)
		want error  // nil: any
		says string // in words
	}{
		"signed by nobody": {func(t *testing.T, p *publisher, _ *person) {
			delete(p.files, sigName(p, "stable.json"))
		}, ErrNotSigned, ""},
		"signed by a stranger": {func(t *testing.T, p *publisher, _ *person) {
			delete(p.files, sigName(p, "stable.json"))
			resign(p, newKey(t))
		}, ErrNotSigned, ""},
		"a stranger's signature under the name of ours": {func(t *testing.T, p *publisher, _ *person) {
			s := newKey(t)
			resign(p, s)
			p.files[sigName(p, "stable.json")] = p.files[fmt.Sprintf("stable.json.%016X.minisig", s.private.ID())]
		}, ErrNotSigned, ""},
		"changed after it was signed": {func(t *testing.T, p *publisher, _ *person) {
			p.put("stable.json", []byte(strings.Replace(string(p.files["stable.json"]), "Better", "Worse!", 1)))
		}, ErrNotSigned, ""},
		"cut short": {func(t *testing.T, p *publisher, _ *person) {
			p.put("stable.json", p.files["stable.json"][:100])
		}, ErrNotSigned, ""},
		"signed by the root key, which signs no releases": {func(t *testing.T, p *publisher, _ *person) {
			delete(p.files, sigName(p, "stable.json"))
			resign(p, p.roots...)
		}, ErrNotSigned, ""},
		"its time is over": {func(t *testing.T, p *publisher, h *person) { h.now = h.now.Add(101 * time.Hour) }, ErrExpired, "stands still"},
		"the keys' time is over": {func(t *testing.T, p *publisher, h *person) {
			p.release(9, "0.2.0", plain, func(m *Manifest) { m.Expires = time.Now().Add(9999 * time.Hour) })
			h.now = h.now.Add(1001 * time.Hour)
		}, ErrExpired, "list of keys"},
		"a clock that is far behind": {func(t *testing.T, p *publisher, h *person) { h.now = h.now.Add(-48 * time.Hour) }, nil, "clock"},
		"an older one, replayed": {func(t *testing.T, p *publisher, h *person) {
			old := p.files["stable.json"]
			sig := p.files[sigName(p, "stable.json")]
			p.release(8, "0.3.0", plain, nil)
			if _, newer, err := h.updater().Check(t.Context()); err != nil || !newer {
				t.Fatal(err)
			}
			p.put("stable.json", old)
			p.put(sigName(p, "stable.json"), sig)
		}, ErrOlder, "holding newer releases back"},
		"another channel's": {func(t *testing.T, p *publisher, _ *person) {
			p.release(7, "0.2.0", plain, func(m *Manifest) { m.Channel = "beta" })
		}, nil, "channel"},
		"endless": {func(t *testing.T, p *publisher, _ *person) {
			p.handle = func(w http.ResponseWriter, r *http.Request, name string, _ []byte) bool {
				for name == "stable.json" && r.Context().Err() == nil {
					_, _ = w.Write(make([]byte, 64<<10))
				}
				return name == "stable.json"
			}
		}, nil, "longer"},
		"a list of keys that a stranger made": {func(t *testing.T, p *publisher, _ *person) {
			s := newKey(t)
			p.trust(2, 1, []keyPair{s}, []keyPair{s})
		}, ErrNotSigned, "new list of keys"},
		"a list of keys whose own roots have not signed": {func(t *testing.T, p *publisher, _ *person) {
			p.trust(2, 1, []keyPair{newKey(t)}, p.roots)
		}, ErrNotSigned, "by its own"},
		"a list of keys with another number": {func(t *testing.T, p *publisher, _ *person) {
			p.trust(3, 1, p.roots, p.roots)
			for _, n := range []string{"", "." + keyName(p.roots[0].private.ID()) + ".minisig"} {
				p.files["keys/2.json"+n] = p.files["keys/3.json"+n]
			}
		}, nil, "number 3 where 2"},
		"two signatures are wanted and one is there": {func(t *testing.T, p *publisher, _ *person) {
			p.keys = append(p.keys, newKey(t))
			p.trust(2, 2, p.roots, p.roots)
			delete(p.files, fmt.Sprintf("stable.json.%016X.minisig", p.keys[1].private.ID()))
		}, ErrNotSigned, ""},
		"an archive that is elsewhere": {func(t *testing.T, p *publisher, _ *person) {
			p.release(7, "0.2.0", plain, func(m *Manifest) { m.Files[0].Name = "../../evil.tar.gz" })
		}, nil, "no name of a file"},
		"a program that is none": {func(t *testing.T, p *publisher, _ *person) {
			p.release(7, "0.2.0", plain, func(m *Manifest) { m.Files[0].Programs[1].Name = "../.bashrc" })
		}, nil, "no program of Hearth"},
		"a version that is none": {func(t *testing.T, p *publisher, _ *person) {
			p.release(7, "../../0.2.0", plain, func(m *Manifest) { m.Files[0].Name = "a.tar.gz" })
		}, nil, "no version"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublisher(t)
			p.release(7, "0.2.0", plain, nil)
			h := newPerson(t, p)
			c.do(t, p, h)
			_, _, err := h.updater().Check(t.Context())
			if err == nil {
				t.Fatal("it was believed")
			}
			if c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
			if st, rerr := Read(h.dir); rerr != nil || st.Checked == nil || st.Checked.Error != err.Error() {
				t.Errorf("it is not kept that it failed: %+v, %v", st.Checked, rerr)
			}
			if h.whole() != "0.1.0" {
				t.Error("something was changed")
			}
		})
	}
}

func sigName(p *publisher, name string) string {
	return fmt.Sprintf("%s.%016X.minisig", name, p.keys[0].private.ID())
}

// The keys are exchanged twice, the root keys too: who knows only the first ones
// follows, and never goes back to an old list.
func TestSec_A_UPD_01_KeysAreExchanged(t *testing.T) {
	p := newPublisher(t)
	first := p.roots
	h := newPerson(t, p)
	p.release(7, "0.2.0", plain, nil)
	if _, _, err := h.updater().Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	old, oldKeys := p.roots, p.keys
	p.roots, p.keys = []keyPair{newKey(t), newKey(t)}, []keyPair{newKey(t)}
	p.trust(2, 1, p.roots, append(p.roots, old...))
	p.release(8, "0.3.0", plain, nil)
	anchored := func() Updater {
		u := h.updater()
		u.Anchor = Anchor{1, texts(first...)}
		return u
	}
	if m, newer, err := anchored().Check(t.Context()); err != nil || !newer || m.Version != "0.3.0" {
		t.Fatal(m.Version, newer, err)
	}
	// The key of before signs nothing any more.
	newKeys := p.keys
	p.keys = oldKeys
	p.release(9, "0.4.0", plain, nil)
	p.keys = newKeys
	if _, _, err := anchored().Check(t.Context()); !errors.Is(err, ErrNotSigned) {
		t.Errorf("a key that was taken away still signs: %v", err)
	}
	// Also when the source says that there is no second list.
	p.mu.Lock()
	delete(p.files, "keys/2.json")
	p.mu.Unlock()
	if _, _, err := anchored().Check(t.Context()); !errors.Is(err, ErrNotSigned) {
		t.Errorf("the list of before came back: %v", err)
	}
	// One of the two new root keys alone makes no list.
	p.trust(2, 1, p.roots, append(p.roots, old...))
	p.trust(3, 1, []keyPair{p.roots[0]}, []keyPair{p.roots[0]})
	if _, _, err := anchored().Check(t.Context()); !errors.Is(err, ErrNotSigned) {
		t.Errorf("one of two root keys made a list: %v", err)
	}
	// A build with other keys begins anew.
	other := newPublisher(t)
	other.release(1, "0.5.0", plain, nil)
	u := h.updater()
	u.Anchor = Anchor{1, texts(other.roots...)}
	src, err := NewSource(other.url)
	if err != nil {
		t.Fatal(err)
	}
	u.Source = src
	if m, _, err := u.Check(t.Context()); err != nil || m.Version != "0.5.0" {
		t.Errorf("%s, %v", m.Version, err)
	}
}

// Downloads go on where they ended, end when they are too long, too slow or not what
// was signed, and what is wrong is not kept.
func TestSec_A_UPD_01_Downloads(t *testing.T) {
	big := map[string][]byte{"hearth": make([]byte, 300<<10), "hearth-channels": []byte("c")}
	for i := range big["hearth"] {
		big["hearth"][i] = byte(i * i >> 3)
	}
	setup := func(t *testing.T) (*publisher, *Source, File, string) {
		p := newPublisher(t)
		m := p.release(7, "0.2.0", big, nil)
		s, err := NewSource(p.url)
		if err != nil {
			t.Fatal(err)
		}
		return p, s, m.Files[0], t.TempDir()
	}
	half := func(n int) func(http.ResponseWriter, *http.Request, string, []byte) bool {
		return func(w http.ResponseWriter, r *http.Request, _ string, data []byte) bool {
			if r.Header.Get("Range") != "" {
				return false
			}
			w.Header().Set("ETag", `"`+digest(data)[:16]+`"`)
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			_, _ = w.Write(data[:n])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}
	t.Run("cut off, then resumed", func(t *testing.T) {
		p, s, f, dir := setup(t)
		p.handle = half(1000)
		if _, err := s.Download(t.Context(), f, dir, nil); err == nil || !strings.Contains(err.Error(), "goes on from there") {
			t.Fatal(err)
		}
		file, err := s.Download(t.Context(), f, dir, nil)
		if err != nil || sum(file) != f.SHA {
			t.Fatal(err)
		}
		if last := p.asked[len(p.asked)-1]; last != f.Name+" bytes=1000-" {
			t.Errorf("asked for %q", last)
		}
	})
	t.Run("another file meanwhile", func(t *testing.T) {
		p, s, f, dir := setup(t)
		p.handle = half(1000)
		_, _ = s.Download(t.Context(), f, dir, nil)
		p.handle = nil
		part := filepath.Join(dir, f.SHA+".part")
		if err := os.WriteFile(part, []byte(strings.Repeat("?", 1000)), 0o600); err != nil {
			t.Fatal(err)
		}
		if file, err := s.Download(t.Context(), f, dir, nil); err != nil || sum(file) != f.SHA {
			t.Fatal(err)
		}
	})
	for name, c := range map[string]struct {
		do   func(w http.ResponseWriter, r *http.Request, _ string, data []byte) bool
		want error
	}{
		"endless": {func(w http.ResponseWriter, r *http.Request, _ string, data []byte) bool {
			for r.Context().Err() == nil {
				if _, err := w.Write(data); err != nil {
					break
				}
			}
			return true
		}, ErrTooMuch},
		"longer than announced": {func(w http.ResponseWriter, r *http.Request, _ string, data []byte) bool {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)+1))
			_, _ = w.Write(append(data, 0))
			return true
		}, ErrTooMuch},
		"other bytes of the same length": {func(w http.ResponseWriter, r *http.Request, _ string, data []byte) bool {
			_, _ = w.Write(make([]byte, len(data)))
			return true
		}, ErrWrongBytes},
		"silent": {func(w http.ResponseWriter, r *http.Request, _ string, data []byte) bool {
			_, _ = w.Write(data[:100])
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return true
		}, errQuiet},
		"a drop now and then": {func(w http.ResponseWriter, r *http.Request, _ string, data []byte) bool {
			for i := 0; r.Context().Err() == nil; i++ {
				_, _ = w.Write(data[i : i+1])
				_ = http.NewResponseController(w).Flush()
				<-time.After(10 * time.Millisecond)
			}
			return true
		}, nil},
		"an error": {func(w http.ResponseWriter, r *http.Request, _ string, _ []byte) bool {
			http.Error(w, "no", http.StatusServiceUnavailable)
			return true
		}, nil},
		"to a place nobody may see": {func(w http.ResponseWriter, r *http.Request, _ string, _ []byte) bool {
			http.Redirect(w, r, "http://example.org/x", http.StatusFound)
			return true
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p, s, f, dir := setup(t)
			p.handle = c.do
			s.Quiet, s.Whole = 300*time.Millisecond, 2*time.Second
			_, err := s.Download(t.Context(), f, dir, nil)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Fatal(err)
			}
			left, _ := filepath.Glob(filepath.Join(dir, "*.archive"))
			if len(left) > 0 {
				t.Error("it was kept as whole")
			}
			p.handle = nil
			if file, err := s.Download(t.Context(), f, dir, nil); err != nil || sum(file) != f.SHA {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// Only https leads elsewhere, and nothing of who asks is told.
func TestSec_A_UPD_01_Sources(t *testing.T) {
	for _, bad := range []string{
		"http://example.org/x", "ftp://example.org", "https://u:p@example.org/", "example.org", "https://e.org/?a=1", "",
	} {
		if _, err := NewSource(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	for _, good := range []string{"https://example.org/releases", "http://127.0.0.1:1/x", "http://nas.local/hearth"} {
		if _, err := NewSource(good); err != nil {
			t.Error(err)
		}
	}
	p := newPublisher(t)
	p.release(7, "0.2.0", plain, nil)
	p.handle = func(_ http.ResponseWriter, r *http.Request, _ string, _ []byte) bool {
		if r.UserAgent() != "Hearth" || r.Header.Get("Cookie") != "" || r.URL.RawQuery != "" {
			t.Errorf("it says who asks: %v", r.Header)
		}
		return false
	}
	if _, _, err := newPerson(t, p).updater().Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// A build with keys of its own takes no others from the settings, and one without
// says so.
func TestSec_A_UPD_01_BuiltInKeysStay(t *testing.T) {
	ours, theirs := newKey(t), newKey(t)
	b := Build{Source: "https://example.org/a", Keys: ours.text}
	s, a, err := b.Where("https://mirror.example.org/b", theirs.text)
	if err != nil || s.Host() != "mirror.example.org" || a.Roots[0] != ours.text {
		t.Errorf("%v %v %v", s, a, err)
	}
	if _, _, err := (Build{}).Where("", ""); !errors.Is(err, ErrNoSource) {
		t.Error(err)
	}
	if _, a, err := (Build{}).Where("https://example.org/a", theirs.text); err != nil || a.Roots[0] != theirs.text {
		t.Error(err)
	}
	for _, bad := range []string{"x", "RWx", ours.text + "," + ours.text, "0:" + ours.text} {
		if _, err := ParseAnchor(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func FuzzManifest(f *testing.F) {
	p := newPublisher(f)
	m := p.release(7, "0.2.0", plain, nil)
	good, err := json.Marshal(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"format":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m Manifest
		if strict(data, maxManifest, &m) != nil || m.Check("stable") != nil {
			return
		}
		for _, file := range m.Files { // what is believed leads nowhere else
			if filepath.Base(file.Name) != file.Name {
				t.Errorf("%q", file.Name)
			}
			for _, prog := range file.Programs {
				if filepath.Base(prog.Name) != prog.Name {
					t.Errorf("%q", prog.Name)
				}
			}
		}
		if filepath.Base(m.Version) != m.Version {
			t.Errorf("%q", m.Version)
		}
	})
}

func FuzzTrust(f *testing.F) {
	p := newPublisher(f)
	f.Add(p.files["keys/1.json"], p.files["keys/1.json."+keyName(p.roots[0].private.ID())+".minisig"])
	a := Anchor{1, texts(p.roots...)}
	good := string(p.files["keys/1.json"])
	f.Fuzz(func(t *testing.T, data, sig []byte) {
		if _, err := a.First(data, [][]byte{sig}); err == nil && string(data) != good {
			t.Errorf("believed: %s", data)
		}
	})
}

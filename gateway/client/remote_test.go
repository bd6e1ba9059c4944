package client

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/statedir"
)

func TestRemotesAreKeptByID(t *testing.T) {
	dir := statedir.Dir(filepath.Join(t.TempDir(), "state"))
	if all, err := Remotes(dir); err != nil || len(all) != 0 {
		t.Fatal(all, err)
	}
	save := func(r Remote) {
		t.Helper()
		if err := SaveRemote(t.Context(), dir, r); err != nil {
			t.Fatal(err)
		}
	}
	save(Remote{ID: "aaaa1111", Name: "home", DeviceToken: "t1"})
	save(Remote{ID: "bbbb2222", Name: "office"})
	save(Remote{ID: "aaaa1111", Name: "Home", DeviceToken: "t2"})
	if all, err := Remotes(dir); err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	for _, name := range []string{"home", "HOME", "aaaa", "AAAA1111"} {
		if r, err := FindRemote(dir, name); err != nil || r.DeviceToken != "t2" {
			t.Errorf("%s: %+v %v", name, r, err)
		}
	}
	var none *NoRemoteError
	for _, name := range []string{"", "aaa", "hom", "cccc"} {
		if _, err := FindRemote(dir, name); !errors.As(err, &none) || len(none.Known) != 2 {
			t.Errorf("%q: %v", name, err)
		}
	}
	if info, err := os.Stat(dir.Remotes()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("tokens lie open: %v %v", info, err)
	}
	if err := ForgetRemote(t.Context(), dir, "aaaa1111"); err != nil {
		t.Fatal(err)
	}
	if _, err := FindRemote(dir, "home"); err == nil {
		t.Error("it was not forgotten")
	}
	if err := os.WriteFile(dir.Remotes(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := SaveRemote(t.Context(), dir, Remote{ID: "x"}); err == nil {
		t.Error("a damaged list was written over")
	}
}

func TestRemoteKeyIsKept(t *testing.T) {
	dir := statedir.Dir(filepath.Join(t.TempDir(), "state"))
	one, err := RemoteIdentity(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	two, err := RemoteIdentity(t.Context(), dir)
	if err != nil || !slices.Equal(one.Key, two.Key) {
		t.Error("another key", err)
	}
	if loose, err := dir.Loose(); err != nil || len(loose) != 0 {
		t.Error(loose, err)
	}
	if err := os.WriteFile(dir.RemoteKey(), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := RemoteIdentity(t.Context(), dir); err == nil {
		t.Error("a damaged key was taken")
	}
}

// Off this machine there is no connection without TLS, nor to a gateway that
// is known by nothing; it is not even dialled.
func TestSec_A_NET_17_NoRemoteWithoutTLSAndPin(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	called := make(chan struct{}, 1)
	go func() {
		if c, err := ln.Accept(); err == nil {
			_ = c.Close()
			called <- struct{}{}
		}
	}()
	pin := strings.Repeat("a", 64)
	for name, c := range map[string]struct {
		url  string
		pins []string
	}{
		"plaintext":  {"ws://" + ln.Addr().String(), []string{pin}},
		"http":       {"http://" + ln.Addr().String(), []string{pin}},
		"no pin":     {"wss://" + ln.Addr().String(), nil},
		"no address": {"", []string{pin}},
	} {
		if _, _, err := DialPinned(t.Context(), []string{c.url}, c.pins, nil, Options{}); err == nil {
			t.Errorf("%s: connected", name)
		}
	}
	if len(called) != 0 {
		t.Error("it was dialled")
	}
	if _, _, err := DialPinned(t.Context(), nil, []string{pin}, nil, Options{}); err == nil {
		t.Error("nowhere was reached")
	}
}

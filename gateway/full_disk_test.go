//go:build linux

package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// TestFault_F_DISK_01_FullIsTold: status and /readyz say that the disk is full, and
// no longer when there is room again.
func TestFault_F_DISK_01_FullIsTold(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=96m"); err != nil {
		t.Skipf("no small file system can be mounted here (it takes root): %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	r := &gatewaytest.Rig{T: t, Dir: statedir.Dir(filepath.Join(disk, "state")), Model: scripted.New()}
	srv := httptest.NewServer(r.Model)
	t.Cleanup(srv.Close)
	if err := os.MkdirAll(string(r.Dir), 0o700); err != nil {
		t.Fatal(err)
	}
	gatewaytest.WriteConfig(t, r.Dir, srv.URL, "chat/echo")
	r.Start()
	p := r.Connect()
	told := func() (status bool, ready string) {
		var s protocol.Status
		p.Do(protocol.MethodStatus, nil, &s)
		for _, q := range s.Hearth.Problems {
			status = status || strings.Contains(q.Message, "The disk is full")
		}
		res, err := http.Get(r.Gateway.URL() + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		raw, _ := io.ReadAll(res.Body)
		return status, string(raw)
	}
	if status, ready := told(); status || !strings.Contains(ready, "true") {
		t.Errorf("with room: %v, %s", status, ready)
	}
	fill := filepath.Join(disk, "fill")
	f, err := os.Create(fill)
	if err != nil {
		t.Fatal(err)
	}
	for chunk := make([]byte, 64<<10); err == nil; {
		_, err = f.Write(chunk)
	}
	_ = f.Close()
	if status, ready := told(); !status || !strings.Contains(ready, "disk") {
		t.Errorf("full: %v, %s", status, ready)
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	if status, ready := told(); status || !strings.Contains(ready, "true") {
		t.Errorf("with room again: %v, %s", status, ready)
	}
}

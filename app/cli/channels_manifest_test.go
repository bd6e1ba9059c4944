package cli

import (
	"archive/zip"
	"encoding/json"
	"image"
	_ "image/png" // the pictures are
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestChannelsManifest: what a network makes an application of has the values of the
// settings, or those that are given, and the archive is one that the network takes.
func TestChannelsManifest(t *testing.T) {
	home := t.TempDir()
	archive := filepath.Join(home, "app.zip")
	const id, other = "11111111-2222-3333-4444-555555555555", "99999999-8888-7777-6666-555555555555"
	if code, out, _ := run(t, home, "", "channels", "manifest", "msteams"); code != 0 || !strings.Contains(out, `"botId": "APP_ID"`) {
		t.Errorf("%d %s", code, out)
	}
	code, _, errs := run(t, home, "", "channels", "manifest", "msteams", "--zip", archive)
	if _, err := os.Stat(archive); code == 0 || !strings.Contains(errs, "--with appId=") || err == nil {
		t.Errorf("without the id: %d %s %v", code, errs, err)
	}
	for _, wrong := range []string{"appId=x", "appPassword=abc8Q~canary", "nothing=1", "appId"} {
		code, _, errs := run(t, home, "", "channels", "manifest", "msteams", "--with", wrong)
		if code == 0 || strings.Contains(errs, "canary") {
			t.Errorf("%s: %d %s", wrong, code, errs)
		}
	}
	if code, out, errs := run(t, home, "", "channels", "manifest", "msteams", "--with", "appId="+other, "--zip", archive); code != 0 {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	app, sizes := unpacked(t, archive)
	if app.ID != other || app.App.ID != other || len(app.Bots) != 1 || app.Bots[0].ID != other {
		t.Errorf("%+v", app)
	}
	if sizes["color.png"] != [2]int{192, 192} || sizes["outline.png"] != [2]int{32, 32} {
		t.Errorf("%v", sizes)
	}
	if code, _, errs := run(t, home, "", "config", "set", "channels.msteams.appId", id); code != 0 {
		t.Fatal(errs)
	}
	if code, out, _ := run(t, home, "", "channels", "manifest", "msteams"); code != 0 || !strings.Contains(out, `"botId": "`+id) {
		t.Errorf("%d %s", code, out)
	}
	code, _, errs = run(t, home, "", "channels", "manifest", "slack", "--zip", archive)
	if code == 0 || !strings.Contains(errs, "without --zip") {
		t.Errorf("%d %s", code, errs)
	}
}

type teamsApp struct {
	ID   string `json:"id"`
	Bots []struct {
		ID string `json:"botId"`
	} `json:"bots"`
	App struct {
		ID string `json:"id"`
	} `json:"webApplicationInfo"`
}

func unpacked(t *testing.T, archive string) (app teamsApp, sizes map[string][2]int) {
	t.Helper()
	z, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	sizes = map[string][2]int{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(f.Name) == ".png" {
			c, _, err := image.DecodeConfig(r)
			if err != nil {
				t.Fatal(err)
			}
			sizes[f.Name] = [2]int{c.Width, c.Height}
		} else if b, err := io.ReadAll(r); err != nil || json.Unmarshal(b, &app) != nil {
			t.Fatalf("%s: %s", f.Name, b)
		}
		_ = r.Close()
	}
	return app, sizes
}

package imports_test

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// real unpacks a folder that OpenClaw itself made: build/interop/home.mjs, packed
// by build/interop/fixture.py.
func real(t *testing.T, name string) string {
	t.Helper()
	z, err := zip.OpenReader(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	dir := t.TempDir()
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil || r.Close() != nil {
			t.Fatal(err)
		}
		gatewaytest.PutFile(t, dir, f.Name, b)
	}
	return dir
}

// said is what OpenClaw itself says was said in it.
func said(t *testing.T, dir string) (all [][2]string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "said.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Histories map[string][][2]string `json:"histories"`
	}
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	for _, h := range s.Histories {
		all = append(all, h...)
	}
	return all
}

// Every session, every message and every memory file of an OpenClaw home that the
// real program made is found by search afterwards.
func TestEverythingOfARealHomeIsFound(t *testing.T) {
	for _, version := range []string{"2026.9.6"} {
		t.Run(version, func(t *testing.T) {
			h, dir := start(t), real(t, "openclaw-"+version+".zip")
			before := tree(t, dir)
			rep := h.take("openclaw", dir)
			if tree(t, dir) != before {
				t.Error("something in the source was changed")
			}
			all := said(t, dir)
			var list protocol.SessionsList
			h.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
			if len(list.Sessions) != 3 || len(all) != 12 {
				t.Errorf("%d chats, %d messages\n%+v", len(list.Sessions), len(all), rep)
			}
			held := map[string]int{} // by how they begin: OpenClaw's own list shortens what is long
			for _, s := range list.Sessions {
				for _, m := range h.History(s.Key).Messages {
					held[begin(m.Text())]++
				}
			}
			for _, m := range all {
				if held[begin(m[1])]--; held[begin(m[1])] < 0 {
					t.Errorf("%s is not here: %.80q", m[0], m[1])
				}
			}
			for _, words := range []string{"Seeschwalbe", "Hedwig quince", "marzipan", "ninth", "blue template", "tomatoes"} {
				if got := h.Found(words, ""); len(got) == 0 {
					t.Errorf("%q is not found", words)
				}
			}
			for query, want := range map[string]string{"dentist": "Kirschbaum", "hammock": "veranda", "cat": "Brombeere"} {
				var found protocol.MemoryFound
				h.Do(protocol.MethodMemorySearch, protocol.MemorySearchParams{Query: query}, &found)
				if !strings.Contains(fmt.Sprint(found.Results), want) {
					t.Errorf("the memory of %q is not found: %+v", query, found.Results)
				}
			}
			rows := counts(rep)
			for _, want := range []string{"skill 1/0/0/0", "job 2/0/0/3", "chat 3/0/0/0", "memory 3/0/0/0"} {
				if !strings.Contains(rows, want) {
					t.Errorf("%s: no %s\n%+v", rows, want, rep.Left)
				}
			}
			if again := counts(h.take("openclaw", dir)); !strings.Contains(again, "chat 0/0/3/0") || !strings.Contains(again, "job 0/0/2/3") {
				t.Errorf("the second time: %s", again)
			}
			h.noSecrets(t, rep)
		})
	}
}

func begin(s string) string { return s[:min(len(s), 100)] }

// noSecrets: what the fixture keeps secret is neither told nor in the settings.
func (h here) noSecrets(t *testing.T, rep protocol.ImportReport) {
	t.Helper()
	raw, err := json.Marshal(rep)
	if err != nil {
		t.Fatal(err)
	}
	var cfg protocol.ConfigSnapshot
	h.Do(protocol.MethodConfigGet, nil, &cfg)
	for _, secret := range []string{"sk-fixture", "fixture-gateway-token"} {
		if strings.Contains(string(raw), secret) || strings.Contains(fmt.Sprintf("%+v", cfg), secret) {
			t.Errorf("%s… is told", secret)
		}
	}
}

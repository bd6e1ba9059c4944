package speech_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/launch"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/provider/guarded"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
	"github.com/hearth-assistant/hearth/gateway/sections"
	"github.com/hearth-assistant/hearth/gateway/speech"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/rerun"
)

// The test program is the guardian of what it starts.
const guardianArg = "__child"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == guardianArg {
		rerun.Exit(process.Child())
	}
	os.Exit(m.Run())
}

// writer is one that a program writes down for: a script of the test's, started with
// args; more are keys beside command and args.
func writer(t *testing.T, script, args, more string) *speech.Writer {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a script of Unix")
	}
	home := t.TempDir()
	program := filepath.Join(home, "whisper-cli")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".ssh", "id"), []byte("a secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "hearth.json")
	text := `{ tools: { media: { audio: { models: [ { type: "cli", command: "` + program + `", args: [` + args + `]` + more + ` } ] } } } }`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := config.Open(path, config.Options{Sections: sections.All(channel.Kinds{})})
	if err != nil {
		t.Fatal(err)
	}
	if s := file.Snapshot(); len(s.Issues)+len(s.Warnings) > 0 {
		t.Fatal(s.Issues, s.Warnings)
	}
	db, err := store.Open(filepath.Join(t.TempDir(), "hearth.db"), store.Options{NoSync: true, ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.WithoutCancel(t.Context())) })
	never, err := pause.Open(db, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	k := process.New(process.Options{Helper: []string{os.Args[0], os.Args[0], guardianArg}, Now: time.Now})
	t.Cleanup(func() { _ = k.Close(context.WithoutCancel(t.Context())) })
	return speech.New(speech.Options{
		Settings: file, Guard: &guarded.Guard{Pause: never}, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		Execution: &execution.Environment{
			Place: launch.Place{Home: home, Environ: []string{"LANG=C.UTF-8"}}, Processes: k, Sandbox: sandbox.Probe(),
			SearchPath: "/usr/local/bin:/usr/bin:/bin",
		},
	})
}

// note is a real voice note.
func note(t *testing.T) speech.Sound {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("sound", "testdata", "voice16.ogg"))
	if err != nil {
		t.Fatal(err)
	}
	return speech.Sound{Name: "voice.ogg", MIME: "audio/ogg", Data: data}
}

// A program gets the sound as it wants it, and its words are read where it puts them.
func TestPrograms(t *testing.T) {
	for name, c := range map[string]struct{ script, args, more, want string }{
		"WAV of Opus": {`head -c 4 "$1"; tail -c +9 "$1" | head -c 4`, `"{{WavPath}}"`, "", "RIFFWAVE"},
		"whisper.cpp": {`head -c 4 "$2"`, `"-f", "{{MediaPath}}"`, "", "RIFF"},
		"times of lines": {`printf '\n[00:00:00.000 --> 00:00:02.000]   Buy\n[00:00:02.000 --> 00:00:03.000]   milk.\n'`, `"{{MediaPath}}"`, "",
			"Buy milk."},
		"a file":    {`echo noise; echo "buy milk" > "$2.txt"`, `"{{MediaPath}}", "{{OutputBase}}"`, "", "buy milk"},
		"prompt":    {`echo "$2 $3"`, `"{{MediaPath}}", "{{Language}}", "{{Prompt}}"`, `, language: "de", prompt: "Milch"`, "de Milch"},
		"the start": {`echo "one two three"`, `"{{MediaPath}}"`, `, maxChars: 7`, "one two"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := writer(t, c.script, c.args, c.more).Write(t.Context(), note(t))
			if err != nil || got.Text != c.want || !strings.HasSuffix(got.By, "whisper-cli") || got.Cut != (name == "the start") {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// Failures of programs say what to do.
func TestFault_ProgramsThatFail(t *testing.T) {
	for name, c := range map[string]struct{ script, more, want string }{
		"it fails":       {"echo 'failed to open model' >&2; exit 3", "", "failed to open model"},
		"it hangs":       {"sleep 60 & sleep 60", `, timeoutSeconds: 1`, "took longer than 1s (tools.media.audio.timeoutSeconds)"},
		"it is too much": {"echo x", `, maxBytes: 1024`, "tools.media.audio.maxBytes"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := writer(t, c.script, `"{{MediaPath}}"`, c.more).Write(t.Context(), note(t)); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	w := writer(t, "echo '[BLANK_AUDIO]'", `"{{MediaPath}}"`, "")
	if _, err := w.Write(t.Context(), note(t)); !errors.Is(err, speech.ErrSilent) {
		t.Error(err)
	}
	if _, err := w.Write(t.Context(), speech.Sound{Name: "a.ogg", Data: []byte("OggS")}); err == nil {
		t.Error("nothing was written down")
	}
	no := note(t)
	no.Data = append([]byte("ID3"), make([]byte, 2000)...)
	no.MIME = "audio/mpeg"
	if _, err := writer(t, "echo x", `"{{WavPath}}"`, "").Write(t.Context(), no); err == nil || !strings.Contains(err.Error(), "audio/mpeg") {
		t.Error(err)
	}
	gone := writer(t, "echo x", `"{{MediaPath}}"`, "")
	if err := os.Remove(filepath.Join(speech.HomeOf(gone), "whisper-cli")); err != nil {
		t.Fatal(err)
	}
	if _, err := gone.Write(t.Context(), note(t)); err == nil || !strings.Contains(err.Error(), "there is no program") {
		t.Error(err)
	}
}

// A program sees neither keys nor the network, and a link that it puts in the place
// of its words leads nowhere.
func TestSec_A_BOX_ProgramsThatListenAreConfined(t *testing.T) {
	w := writer(t,
		`cat "$HOME/.ssh/id" "$3/.ssh/id" 2>/dev/null; ls "$3" >/dev/null 2>&1 && echo sees; ln -s "$3/.ssh/id" "$2.txt"; echo done`,
		`"{{MediaPath}}", "{{OutputBase}}", "~/x"`, "")
	if !sandbox.Probe().Confined {
		t.Skip("nothing can be confined here")
	}
	got, err := w.Write(t.Context(), note(t))
	if err != nil || got.Text != "done" {
		t.Errorf("%+v, %v", got, err)
	}
	w = writer(t, `ln -s "`+filepath.Join(speech.HomeOf(w), ".ssh", "id")+`" "$2.txt"; echo done`, `"{{MediaPath}}", "{{OutputBase}}"`, "")
	if got, err := w.Write(t.Context(), note(t)); err != nil || got.Text != "done" {
		t.Errorf("a link was followed: %+v, %v", got, err)
	}
}

// Nobody is asked who is not in the settings.
func TestSec_A_SEC_NobodyListensUnasked(t *testing.T) {
	w := writer(t, "echo x", `"{{MediaPath}}"`, `, capabilities: ["image"]`)
	if _, err := w.Write(t.Context(), note(t)); !errors.Is(err, speech.ErrOff) {
		t.Error(err)
	}
}

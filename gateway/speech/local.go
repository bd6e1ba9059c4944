package speech

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/isolate"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/process/stdio"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
	"github.com/hearth-assistant/hearth/gateway/speech/sound"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// outBase is what a program may call its file of words, with .txt behind it.
const outBase = "words"

// wavOnly are programs that read no Opus: {{MediaPath}} is WAV for them too.
var wavOnly = []string{"whisper-cli", "whisper-cpp", "sherpa-onnx-offline"}

// local has a program of this computer write it down: in a folder of its own, without
// the network and without the rest of the machine where that can be had.
func (w *Writer) local(ctx context.Context, m Model, s Sound) (string, error) {
	e := w.o.Execution
	if err := w.o.Guard.Pause.Check(pause.CallModel); err != nil {
		return "", err
	}
	program, err := w.find(m.Command)
	if err != nil {
		return "", err
	}
	dir, err := stdio.Folder("hearth-speech-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	args, err := w.arguments(ctx, m, s, dir)
	if err != nil {
		return "", err
	}
	spec := process.Spec{
		Owner: "speech", Title: m.Command, Path: program, Argv: append([]string{program}, args...), Dir: dir,
		Env: w.environment(dir), Timeout: m.timeout(),
	}
	if e.Sandbox.Confined {
		read := append([]string{program}, statedir.Expand(e.Home, m.Read)...)
		for _, arg := range args {
			if filepath.IsAbs(arg) {
				read = append(read, arg)
			}
		}
		spec.Confine = &sandbox.Rules{Read: read, Write: []string{dir}, Hide: append(sandbox.Secrets(e.Home), e.Hide...)}
	}
	return w.run(ctx, m, spec)
}

// run starts it and reads what it wrote: the file that it was told to write, else
// what it printed.
func (w *Writer) run(ctx context.Context, m Model, spec process.Spec) (string, error) {
	p, err := stdio.Start(ctx, w.o.Execution.Processes, spec)
	if err != nil {
		return "", fmt.Errorf("%s could not be started: %w", m.Command, err)
	}
	defer func() { _ = w.o.Execution.Processes.Remove(spec.Owner, p.ID()) }()
	_ = p.CloseInput()
	said := make(chan []byte, 1)
	go func() {
		text, _ := io.ReadAll(io.LimitReader(p.Output(), maxWords))
		_, _ = io.Copy(io.Discard, p.Output())
		said <- text
	}()
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Kill()
		<-p.Done()
	}
	text := <-said
	_ = p.Output().Close()
	switch exit := p.Info().Exit; {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case exit.TimedOut:
		return "", fmt.Errorf("%s took longer than %v (tools.media.audio.timeoutSeconds)", m.Command, m.timeout())
	case !exit.OK():
		return "", fmt.Errorf("%s failed: %s. If it may not read a file that it needs, name the folder in read beside it", m.Command, p.Words())
	}
	if written, ok := wordsIn(spec.Dir); ok {
		text = written
	}
	return untimed(string(text)), nil
}

// wordsIn is the file of words that a program wrote into its folder. A link is none:
// it would be read with more rights than the program has.
func wordsIn(dir string) ([]byte, bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	info, err := root.Lstat(outBase + ".txt")
	if err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	f, err := root.Open(outBase + ".txt")
	if err != nil {
		return nil, false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxWords))
	return text, err == nil
}

// timed is how whisper.cpp begins a line.
var timed = regexp.MustCompile(`(?m)^\[[0-9:.]+ --> [0-9:.]+\][ \t]*`)

func untimed(s string) string {
	if !timed.MatchString(s) {
		return s
	}
	return strings.Join(strings.Fields(timed.ReplaceAllString(s, " ")), " ")
}

// arguments are those of the settings, with the sound in a file of dir.
func (w *Writer) arguments(ctx context.Context, m Model, s Sound, dir string) ([]string, error) {
	media := filepath.Join(dir, "sound"+ending(s))
	if err := os.WriteFile(media, s.Data, 0o600); err != nil {
		return nil, fmt.Errorf("keep the sound for %s: %w", m.Command, err)
	}
	wav := ""
	bare := strings.TrimSuffix(filepath.Base(m.Command), ".exe")
	needs := slices.ContainsFunc(m.Args, func(a string) bool { return strings.Contains(a, "{{WavPath}}") })
	if needs || slices.Contains(wavOnly, bare) && sound.IsOpus(s.Data) {
		var err error
		if wav, err = w.wav(ctx, s, dir); err != nil {
			return nil, err
		}
	}
	if wav != "" && slices.Contains(wavOnly, bare) {
		media = wav
	}
	r := strings.NewReplacer("{{MediaPath}}", media, "{{WavPath}}", wav, "{{MediaDir}}", dir, "{{OutputDir}}", dir,
		"{{OutputBase}}", filepath.Join(dir, outBase), "{{Prompt}}", m.Prompt, "{{Language}}", m.Language,
		"{{MaxChars}}", strconv.Itoa(m.MaxChars))
	out := make([]string, len(m.Args))
	for i, a := range m.Args {
		out[i] = r.Replace(a)
		if strings.HasPrefix(out[i], "~/") {
			out[i] = filepath.Join(w.o.Execution.Home, out[i][2:])
		}
	}
	return out, nil
}

// convertTime is how long a voice note may take to become WAV: half an hour of sound
// takes some seconds.
const convertTime = 90 * time.Second

// wav is the sound as a WAV file of dir.
func (w *Writer) wav(ctx context.Context, s Sound, dir string) (string, error) {
	data := s.Data
	if !strings.HasPrefix(string(data[:min(len(data), 4)]), "RIFF") {
		var err error
		if w.apart == nil {
			data, err = sound.Convert(s.Data)
		} else {
			data, err = w.apart.Do(ctx, sound.Job, s.Data, isolate.Limits{Time: convertTime, Output: sound.MaxWAV})
		}
		if err != nil {
			return "", fmt.Errorf("it could not be made WAV: %w. Use {{MediaPath}} with a program that reads %s", err, s.MIME)
		}
	}
	to := filepath.Join(dir, "sound.wav")
	if err := os.WriteFile(to, data, 0o600); err != nil {
		return "", fmt.Errorf("keep the sound as WAV: %w", err)
	}
	return to, nil
}

// find looks for a program that is named without a folder where commands are looked
// for, never in the folder of the moment.
func (w *Writer) find(name string) (string, error) {
	e := w.o.Execution
	name = statedir.Expand(e.Home, []string{name})[0]
	if filepath.IsAbs(name) {
		if _, err := os.Stat(name); err != nil {
			return "", fmt.Errorf("there is no program %s: install it, or correct command in tools.media.audio.models", name)
		}
		return name, nil
	}
	if strings.ContainsAny(name, `/\`) {
		return "", errors.New("write the whole path of the program " + name + " in tools.media.audio.models")
	}
	for _, dir := range filepath.SplitList(e.SearchPath) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no program %q in %s: install it, or write its whole path in tools.media.audio.models", name, e.SearchPath)
}

// environment is all that a program gets.
func (w *Writer) environment(dir string) []string {
	out := []string{"HOME=" + dir, "TMPDIR=" + dir, "TERM=dumb", "PATH=" + w.o.Execution.SearchPath}
	for _, kv := range w.o.Execution.Environ {
		if name, _, _ := strings.Cut(kv, "="); name != "HOME" && name != "PATH" {
			out = append(out, kv)
		}
	}
	return out
}

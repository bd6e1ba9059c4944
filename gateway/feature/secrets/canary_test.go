package secrets_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// canaries are secrets that must be found nowhere but where they belong.
var canaries = map[string]string{
	"a key in the vault":      "sk-Canary1Vault00aa11bb22cc33",
	"a key in a file":         "sk-Canary2File000aa11bb22cc33",
	"a key of a program":      "Canary3Program+/=aa11bb22cc33",
	"a key in a patch":        "sk-Canary4Patch00aa11bb22cc33",
	"a key in the process":    "sk-Canary5Process0aa11bb22cc3",
	"the token of a bot":      "777000111:AACanary6TelegramBotTokenaa11bb22cc33dd",
	"the vault's passphrase":  "Canary7 passphrase of the vault",
	"the gateway's own token": "Canary8-gateway-token-aa11bb22",
	"a key of the web search": "Canary9Search00aa11bb22cc33dd",
}

// faithless answers every request with an error that repeats what it was given,
// as services do.
func faithless(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusUnauthorized)
	fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s, path %s, b64 %s","type":"invalid_request_error"},"ok":false,"description":"bad token in %s"}`,
		r.Header.Get("Authorization"), r.URL.Path, base64.StdEncoding.EncodeToString([]byte(r.Header.Get("Authorization"))), r.URL.Path)
}

// canaryWorld is a gateway process with a canary in every credential.
type canaryWorld struct {
	t     *testing.T
	bin   string
	dir   statedir.Dir
	env   []string
	model *scripted.Handler
	said  bytes.Buffer // what the process wrote

	mu     sync.Mutex
	frames bytes.Buffer // everything that clients were sent
}

func newCanaryWorld(t *testing.T) *canaryWorld {
	t.Helper()
	bin := gatewaytest.Binary(t)
	outside := t.TempDir()
	put := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(outside, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	w := &canaryWorld{t: t, bin: bin, dir: statedir.Dir(filepath.Join(t.TempDir(), "state")), model: scripted.New()}
	if err := w.dir.Ensure(); err != nil {
		t.Fatal(err)
	}
	good, bad := httptest.NewServer(w.model), httptest.NewServer(http.HandlerFunc(faithless))
	t.Cleanup(good.Close)
	t.Cleanup(bad.Close)
	w.env = []string{
		"HEARTH_HOME=" + string(w.dir), "HOME=" + outside, "PATH=" + os.Getenv("PATH"),
		"HEARTH_VAULT_PASSPHRASE_FILE=" + put("pass", canaries["the vault's passphrase"], 0o600),
		"BOT=" + canaries["the token of a bot"], "GATE=" + canaries["the gateway's own token"], "SEARCH=" + canaries["a key of the web search"],
		"MISTRAL_API_KEY=" + canaries["a key in the process"],
	}
	prog := put("prog", "#!/bin/sh\ncat '"+put("kept", canaries["a key of a program"], 0o600)+"'\n", 0o700)
	cfg := map[string]any{
		"logging": map[string]any{"level": "debug"},
		"gateway": map[string]any{"auth": map[string]any{"token": map[string]any{"source": "env", "id": "GATE"}}},
		"models": map[string]any{"providers": map[string]any{
			"vault": map[string]any{"baseUrl": good.URL + "/v1", "api": "openai-completions", "apiKey": "keychain:my.key"},
			"file": map[string]any{"baseUrl": bad.URL + "/v1", "api": "openai-completions", "apiKey": map[string]any{"source": "file",
				"path": put("key", canaries["a key in a file"]+"\n", 0o600)}, "models": []any{map[string]any{"id": "m"}}},
			"prog": map[string]any{"baseUrl": bad.URL, "api": "anthropic-messages", "apiKey": map[string]any{"source": "exec",
				"command": []string{prog}}, "models": []any{map[string]any{"id": "m"}}},
		}},
		"tools":    map[string]any{"web": map[string]any{"search": map[string]any{"provider": "brave", "apiKey": "${SEARCH}"}}},
		"channels": map[string]any{"telegram": map[string]any{"apiRoot": bad.URL, "botToken": map[string]any{"source": "env", "id": "BOT"}}},
		"agents":   map[string]any{"defaults": map[string]any{"model": "vault/echo"}},
	}
	raw, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(w.dir), "hearth.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

// hearth runs a command of the program.
func (w *canaryWorld) hearth(stdin string, args ...string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), w.bin, args...)
	cmd.Env, cmd.Stdin = w.env, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	w.said.Write(out)
	if err != nil {
		w.t.Fatalf("hearth %v: %v\n%s", args, err, out)
	}
}

// during runs the gateway while f talks to it.
func (w *canaryWorld) during(f func(*client.Client)) {
	w.t.Helper()
	cmd := exec.Command(w.bin, "gateway", "--verbose", "--port", fmt.Sprint(gatewaytest.FreePort(w.t)))
	var out bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = w.env, &out, &out
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		w.said.Write(out.Bytes())
	}()
	c := w.dial(protocol.ScopeAdmin, protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopePairing)
	defer func() { _ = c.Close() }()
	f(c)
}

func (w *canaryWorld) dial(scopes ...protocol.Scope) *client.Client {
	w.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		at, token, err := client.Find(w.dir)
		if err == nil {
			var c *client.Client
			c, err = client.Dial(w.t.Context(), client.Options{
				URL: at, Token: token, Scopes: scopes, Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Version: "test", Platform: "linux"},
				OnEvent: func(ev protocol.Event) { w.record(ev) },
			})
			if err == nil {
				return c
			}
		}
		if time.Now().After(deadline) {
			w.t.Fatal(err)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-w.t.Context().Done():
		}
	}
}

func (w *canaryWorld) record(v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		w.t.Error(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frames.Write(raw)
}

// call records what a method answers, errors too.
func (w *canaryWorld) call(c *client.Client, method string, params any) (json.RawMessage, error) {
	var res json.RawMessage
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	err := c.Call(ctx, method, params, &res)
	w.record(res)
	var pe *protocol.Error
	if errors.As(err, &pe) {
		w.record(pe)
	}
	return res, err
}

// ask sends a message to a model and waits for the end of the answer.
func (w *canaryWorld) ask(c *client.Client, n int, modelRef, text string) {
	w.t.Helper()
	key := fmt.Sprintf("agent:main:canary%d", n)
	if modelRef != "" {
		if _, err := w.call(c, protocol.MethodSessionsPatch, map[string]any{"key": key, "model": modelRef}); err != nil {
			w.t.Errorf("%s: %v", modelRef, err)
		}
	}
	id := fmt.Sprintf("run-%d-%d", n, time.Now().UnixNano())
	if _, err := w.call(c, protocol.MethodChatSend, map[string]any{"sessionKey": key, "message": text, "idempotencyKey": id}); err != nil {
		w.t.Errorf("%s: %v", modelRef, err)
	}
	_, _ = w.call(c, protocol.MethodAgentWait, map[string]any{"runId": id, "timeoutMs": 15000})
	_, _ = w.call(c, protocol.MethodChatHistory, map[string]any{"sessionKey": key})
	_, _ = w.call(c, protocol.MethodTranscriptExport, map[string]any{"key": key})
	_, _ = w.call(c, protocol.MethodWhy, map[string]any{"key": key})
}

// The whole program, with a canary in every credential that it can hold: what
// it wrote and sent is searched byte by byte.
func TestSec_A_SEC_01_02_03_05_Canaries(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the program")
	}
	w := newCanaryWorld(t)
	w.hearth(canaries["a key in the vault"]+"\n", "secrets", "set", "my.key")
	w.during(func(c *client.Client) {
		w.ask(c, 1, "", "hello")
		w.ask(c, 2, "file/m", "hello")
		w.ask(c, 3, "prog/m", "hello")
		patch := `{models:{providers:{late:{baseUrl:"http://127.0.0.1:1/v1",api:"openai-completions",apiKey:" ` +
			canaries["a key in a patch"] + `\n"}}}}`
		if res, err := w.call(c, protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: patch}); err != nil ||
			!bytes.Contains(res, []byte("hearthNotes")) {
			t.Errorf("the key of a patch: %s %v", res, err)
		}
		_, _ = w.call(c, protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{models:{providers:{odd:{apiKey:"two words ` +
			canaries["a key in a patch"] + `"}}}}`})
		w.readAll(c)
		low := w.dial(protocol.ScopeRead)
		w.readAll(low)
		_ = low.Close()
	})
	w.during(func(c *client.Client) { // from disk again
		w.ask(c, 4, "", "hello again")
		w.readAll(c)
	})
	if !w.model.SawKey(canaries["a key in the vault"]) {
		t.Error("the key of the vault was never used, so this proves nothing")
	}
	w.search()
}

// readAll calls everything that reads.
func (w *canaryWorld) readAll(c *client.Client) {
	for _, m := range []string{
		protocol.MethodConfigGet, protocol.MethodHealth, protocol.MethodStatus, protocol.MethodModelsList, protocol.MethodSessionsList,
		protocol.MethodChannelsStatus,
		protocol.MethodSecretsList, protocol.MethodSecretsStatus, protocol.MethodSecretsMigrate, protocol.MethodSystemPresence,
		protocol.MethodSecretsReload,
	} {
		_, _ = w.call(c, m, map[string]any{})
	}
	_, _ = w.call(c, protocol.MethodLogsTail, map[string]any{"limit": 1000})
}

// search looks for every canary, in every form, in all that was written.
func (w *canaryWorld) search() {
	w.t.Helper()
	places := map[string][]byte{"what the program printed": w.said.Bytes(), "what clients were sent": w.frames.Bytes()}
	err := filepath.WalkDir(string(w.dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		places[path] = b
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if len(places) < 6 || len(places["what clients were sent"]) < 1000 {
		w.t.Fatalf("there is little to search: %d places", len(places))
	}
	for what, canary := range canaries {
		for form, text := range map[string]string{
			"itself": canary, "base64": base64.RawStdEncoding.EncodeToString([]byte(canary)),
			"base64 for addresses": base64.RawURLEncoding.EncodeToString([]byte(canary)),
			"base64 after Bearer":  strings.TrimRight(base64.StdEncoding.EncodeToString([]byte("Bearer " + canary))[10:], "="),
			"hexadecimal":          hex.EncodeToString([]byte(canary)), "an address": url.QueryEscape(canary), "a part": canary[:len(canary)*3/4],
		} {
			for place, b := range places {
				if what == "the gateway's own token" && place == w.dir.Token() {
					continue // its file is how this user's programs find it
				}
				if i := bytes.Index(b, []byte(text)); i >= 0 {
					w.t.Errorf("%s is in %s (as %s): …%q", what, place, form, b[max(0, i-80):min(len(b), i+40)])
				}
			}
		}
	}
}

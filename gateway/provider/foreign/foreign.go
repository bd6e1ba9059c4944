// Package foreign finds logins that other programs of this person keep on this
// computer: Claude Code, Codex and the Gemini CLI. It reads their files only
// when it is asked to, changes nothing in them, and never takes a refresh
// token: renewing with it would log the other program out. A login that has
// ended is read again from the file, which its program keeps fresh.
package foreign

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/provider/profile"
)

// maxFile is more than any of these files has.
const maxFile = 1 << 20

// Program is another program on this computer, whose login could be used.
type Program struct {
	ID       string // as people name it, and Credential.Service
	Name     string
	Path     string
	Provider string
	Hosts    []string
	// Caution is what a person should know before.
	Caution string

	parse func(raw []byte) (profile.Credential, error)
}

// Sources lists the programs, whether they are there or not.
func Sources(home string, env func(string) string) []Program {
	at := func(variable, folder, name string) string {
		if d := env(variable); filepath.IsAbs(d) {
			return filepath.Join(d, name)
		}
		return filepath.Join(home, folder, name)
	}
	return []Program{
		{
			ID: "claude-code", Name: "Claude Code", Path: at("CLAUDE_CONFIG_DIR", ".claude", ".credentials.json"), Provider: "anthropic",
			Hosts: []string{"api.anthropic.com"}, parse: claudeCode,
			Caution: "Anthropic may not allow a subscription of Claude Code to be used by other programs.",
		},
		{
			ID: "codex", Name: "Codex", Path: at("CODEX_HOME", ".codex", "auth.json"), Provider: "openai",
			Hosts: []string{"api.openai.com"}, parse: codex,
			Caution: "Only an API key that Codex keeps can be used, not a ChatGPT subscription.",
		},
		{
			ID: "gemini-cli", Name: "Gemini CLI", Path: at("GEMINI_CONFIG_DIR", ".gemini", "oauth_creds.json"), Provider: "google",
			Hosts: []string{"generativelanguage.googleapis.com"}, parse: geminiCLI,
			Caution: "Google may refuse this login for other programs; an API key of aistudio.google.com always works.",
		},
	}
}

// ErrNone: the program is not there, or not logged in.
var ErrNone = errors.New("there is no login of this program on this computer")

// Present reports whether the program's file is there, without reading it.
func (s Program) Present() bool {
	info, err := os.Stat(s.Path)
	return err == nil && info.Mode().IsRegular()
}

// Read takes the login out of the program's file.
func (s Program) Read() (profile.Profile, profile.Credential, error) {
	fail := func(err error) (profile.Profile, profile.Credential, error) {
		return profile.Profile{}, profile.Credential{}, err
	}
	f, err := os.Open(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return fail(ErrNone)
	}
	if err != nil {
		return fail(fmt.Errorf("read the login of %s: %w", s.Name, err))
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil || len(raw) > maxFile {
		return fail(fmt.Errorf("the file %s of %s cannot be read", s.Path, s.Name))
	}
	c, err := s.parse(raw)
	if err != nil {
		return fail(fmt.Errorf("%s: %w", s.Path, err))
	}
	c.Service = s.ID
	return profile.Profile{ID: profile.ID(s.Provider, s.ID), Provider: s.Provider, Type: c.Type, Email: c.Email}, c, nil
}

// unknown: the program has changed its file, or it is not logged in.
func unknown(raw []byte) error {
	if !json.Valid(raw) {
		return errors.New("the file is no JSON; log in again with its own program")
	}
	return ErrNone
}

func claudeCode(raw []byte) (c profile.Credential, err error) {
	var f struct {
		OAuth struct {
			Access  string  `json:"accessToken"`
			Expires float64 `json:"expiresAt"`
		} `json:"claudeAiOauth"`
	}
	if json.Unmarshal(raw, &f) != nil || f.OAuth.Access == "" {
		return c, unknown(raw)
	}
	return profile.Credential{Type: profile.OAuth, Access: f.OAuth.Access, Expires: moment(f.OAuth.Expires)}, nil
}

func codex(raw []byte) (c profile.Credential, err error) {
	var f struct {
		Key    string `json:"OPENAI_API_KEY"`
		Tokens *struct {
			Access string `json:"access_token"`
			ID     string `json:"id_token"`
		} `json:"tokens"`
	}
	if json.Unmarshal(raw, &f) != nil {
		return c, unknown(raw)
	}
	if f.Key != "" {
		return profile.Credential{Type: profile.APIKey, Key: f.Key}, nil
	}
	if f.Tokens != nil && f.Tokens.Access != "" {
		who := ""
		if mail := email(f.Tokens.ID); mail != "" {
			who = " of " + mail
		}
		return c, fmt.Errorf("Codex is logged in with a ChatGPT subscription%s, which works only with Codex itself; use an API key of "+
			"platform.openai.com", who)
	}
	return c, unknown(raw)
}

func geminiCLI(raw []byte) (c profile.Credential, err error) {
	var f struct {
		Access  string  `json:"access_token"`
		Expires float64 `json:"expiry_date"`
		ID      string  `json:"id_token"`
	}
	if json.Unmarshal(raw, &f) != nil || f.Access == "" {
		return c, unknown(raw)
	}
	return profile.Credential{Type: profile.OAuth, Access: f.Access, Expires: moment(f.Expires), Email: email(f.ID)}, nil
}

// moment reads milliseconds; nonsense is "nobody knows".
func moment(ms float64) time.Time {
	if !(ms > 0) || ms > 1e14 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms))
}

// email is whose login a token says it is. It is only shown, so the signature
// does not matter.
func email(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	var claims struct {
		Email string `json:"email"`
	}
	if err != nil || json.Unmarshal(raw, &claims) != nil || len(claims.Email) > 200 || strings.ContainsFunc(claims.Email,
		func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return ""
	}
	return claims.Email
}

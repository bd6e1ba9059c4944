package cli

import (
	"bufio"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret/keeper"
)

// newPassphrase asks for a passphrase of something that will need it for ever: twice at a
// terminal, and says how hard it is to guess in between.
func (a *app) newPassphrase(what string) (string, error) {
	for {
		pass, err := a.typed("New passphrase for " + what + " (8 characters or more; there is no way to get it back): ")
		pass = strings.TrimRight(pass, "\r\n")
		if err != nil || !a.InTerminal {
			return pass, err
		}
		if len([]rune(pass)) < 8 {
			if err := a.errs().print(yellow("! "), "It needs 8 characters or more.\n"); err != nil {
				return "", err
			}
			if pass == "" {
				return "", usage("no passphrase was given")
			}
			continue
		}
		if err := a.errs().print(strength(pass)...); err != nil {
			return "", err
		}
		again, err := a.typed("The same again (empty: choose another one): ")
		switch again = strings.TrimRight(again, "\r\n"); {
		case err != nil:
			return "", err
		case again == pass:
			return pass, nil
		case again == "":
		default:
			if err := a.errs().print(yellow("! "), "The two are not the same. Nothing was kept; type it twice again.\n"); err != nil {
				return "", err
			}
		}
	}
}

// strength says how hard a passphrase is to guess for whoever has the file.
func strength(pass string) []any {
	switch bits := guesses(pass); {
	case bits < 40:
		return []any{red("weak"), ": whoever gets the file could guess it. Four or five words that have nothing to do with\n" +
			"each other are far better.\n"}
	case bits < 55:
		return []any{yellow("fair"), ": one more word, or a few more characters, make it strong.\n"}
	}
	return []any{green("strong"), "\n"}
}

// guesses is about how many bits a guesser has to find: the choice for each
// character that does not follow from those before, words counted as words.
func guesses(pass string) float64 {
	lower := strings.ToLower(pass)
	for _, common := range []string{"password", "passwort", "passphrase", "12345678", "123456", "qwertz", "qwerty", "letmein", "iloveyou",
		"abc123", "hearth"} {
		lower = strings.ReplaceAll(lower, common, "\x00")
	}
	const word, common = 11., 3. // bits of a word out of some two thousand, and of one that everybody takes
	words := strings.FieldsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) })
	words = slices.DeleteFunc(words, func(w string) bool { return len(w) < 3 })
	if len(words) >= 3 {
		slices.Sort(words)
		return word*float64(len(slices.Compact(words))) + common
	}
	seen, bits := map[rune]bool{}, 0.
	var before rune
	letters := 26.
	if pass != strings.ToLower(pass) && pass != strings.ToUpper(pass) {
		letters *= 2
	}
	for _, r := range lower {
		choice := letters
		switch {
		case r == 0:
			choice = math.Exp2(common)
		case unicode.IsDigit(r):
			choice = 10
		case !unicode.IsLetter(r):
			choice = 33
		}
		if step := r - before; seen[r] || step == 1 || step == -1 || step == 0 {
			choice = 2
		}
		bits += math.Log2(choice)
		seen[r], before = true, r
	}
	return bits
}

// keepable sees to it that a key can be kept before it is asked for: where there
// is no keychain, the person chooses between a passphrase and a private file.
func (a *app) keepable(ctx context.Context, c *client.Client) error {
	var s protocol.SecretsStatus
	if err := c.Call(ctx, protocol.MethodSecretsStatus, nil, &s); err != nil || s.Ready || !a.InTerminal {
		return err
	}
	if s.Place == "keychain" {
		return nil // it asks by itself, and says what is wrong with it
	}
	if s.State == keeper.Unusable {
		return &failure{exitFailure, line(strings.TrimSuffix(s.Message, ".")), "mend that first; no key was asked for"}
	}
	if s.State == "locked" {
		pass, err := a.typed("Your vault is locked. Its passphrase: ")
		if err != nil {
			return err
		}
		return c.Call(ctx, protocol.MethodSecretsUnlock, protocol.SecretsUnlockParams{Passphrase: strings.TrimRight(pass, "\r\n")}, &s)
	}
	if err := a.errs().print("There is no keychain here to keep a key in. Where should it be?\n",
		"  1  in a vault under a passphrase; Hearth asks for it after each start\n",
		"  2  in a private file that is not encrypted: programs that run as you could read it\nNumber (Enter: 1): "); err != nil {
		return err
	}
	word, err := bufio.NewReader(a.input()).ReadString('\n')
	if errors.Is(err, errInterrupted) {
		return err
	}
	if err != nil {
		return errors.New("nothing was chosen, so no key was asked for")
	}
	switch strings.TrimSpace(word) {
	case "", "1":
		pass, err := a.newPassphrase("the vault")
		if err != nil {
			return err
		}
		return c.Call(ctx, protocol.MethodSecretsUnlock, protocol.SecretsUnlockParams{Passphrase: pass, Create: true}, &s)
	case "2":
		return a.patchSettings(ctx, c, `{"secrets": {"backend": "plain"}}`)
	}
	return usage("the choice is 1 or 2; no key was asked for")
}

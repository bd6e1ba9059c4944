package networks

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
)

var write = flag.Bool("write", false, "write the table instead of comparing it")

const (
	page   = "../../../docs/channels/README.md"
	begins = "<!-- the table: go test ./gateway/channel/networks -write -->\n"
	ends   = "<!-- the table: end -->\n"
)

// accounts are ones that can be connected, by network: what it takes to ask a channel
// what it can do.
func accounts() map[string]channel.Account {
	type m = map[string]string
	return map[string]channel.Account{
		"telegram": {Secrets: m{"botToken": "123456:AAaaaaaaaaaaaaaaaa"}},
		"discord":  {Secrets: m{"token": strings.Repeat("a", 24) + "." + strings.Repeat("b", 6) + "." + strings.Repeat("c", 27)}},
		"email": {Secrets: m{"password": "x"},
			Texts: m{"address": "h@example.org",
				"imapHost": "imap.example.org", "smtpHost": "smtp.example.org"}},
		"googlechat": {Secrets: m{"serviceAccount": `{"client_email":"a@b.gserviceaccount.com","private_key":"PRIVATE KEY"}`},
			Texts: m{"audience": "123456789012"}},
		"irc":        {Texts: m{"host": "irc.example.org"}},
		"line":       {Secrets: m{"channelAccessToken": strings.Repeat("a", 172), "channelSecret": strings.Repeat("a", 32)}},
		"mattermost": {Secrets: m{"botToken": strings.Repeat("a", 26)}, Texts: m{"baseUrl": "https://chat.example.org"}},
		"msteams": {Secrets: m{"appPassword": strings.Repeat("a", 40)},
			Texts: m{msteams.KeyApp: "00000000-0000-0000-0000-000000000001", msteams.KeyTenant: "00000000-0000-0000-0000-000000000002"}},
		"nextcloud-talk": {Secrets: m{"botSecret": strings.Repeat("a", 64)}, Texts: m{"baseUrl": "https://cloud.example.org"}},
		"signal":         {Texts: m{"account": "+4915112345678"}},
		"imessage":       {Texts: m{"cliPath": "/usr/local/bin/imsg"}},
		"slack":          {Secrets: m{"botToken": "xoxb-1234567890-abcdefgh", "appToken": "xapp-1-A000-1234567890-abc"}},
		"xmpp":           {Secrets: m{"password": "x"}, Texts: m{"address": "h@example.org"}},
		"zulip": {Secrets: m{"apiKey": strings.Repeat("a", 32)},
			Texts: m{"site": "https://example.zulipchat.com", "email": "h@example.org"}},
		"matrix":   {Secrets: m{"password": "x"}, Texts: m{"homeserver": "https://matrix.example.org", "userId": "@h:example.org"}},
		"whatsapp": {Texts: m{"number": "+4915112345678"}},
	}
}

// TestTable: the table of docs/channels/README.md is what the networks' own limits and
// abilities say.
func TestTable(t *testing.T) {
	beside(t, "hearth-channels")
	beside(t, "hearth-whatsapp")
	want := table(t)
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), begins)
	_, after, ok2 := strings.Cut(rest, ends)
	if !ok || !ok2 {
		t.Fatal("the page has no place for the table")
	}
	whole := before + begins + want + ends + after
	switch {
	case whole == string(raw):
	case *write:
		if err := os.WriteFile(page, []byte(whole), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("docs/channels/README.md has another table than the networks make: go test ./gateway/channel/networks -write\n%s", want)
	}
}

// beside puts a file where a program is looked for: nothing of it is started.
func beside(t *testing.T, name string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(self), name+filepath.Ext(self))
	if err := os.WriteFile(path, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(path) })
}

// columns are those of both tables.
func columns() [2][]string {
	return [2][]string{
		{"length", "dialect", "files out", "together", "words with files", "files in", "edits", "deletes", "while it is written"},
		{"emoji", "emoji in", "typing", "threads", "buttons", "polls", "pins", "reads back", "commands", "last edit", "is called"},
	}
}

func table(t *testing.T) string {
	t.Helper()
	var out [2]strings.Builder
	for i, names := range columns() {
		fmt.Fprintf(&out[i], "| | %s |\n|---%s|\n", strings.Join(names, " | "), strings.Repeat("|---", len(names)))
	}
	for _, k := range List() {
		a, known := accounts()[k.ID]
		if !known {
			if k.ID != "webhook" && k.ID != "program" { // their settings say what they can
				t.Errorf("%s is not in the table: give it an account here", k.ID)
			}
			continue
		}
		a.ID, a.MaxFile, a.Now, a.Logger = "default", int64(k.MaxFile)<<20, time.Now, slog.New(slog.DiscardHandler)
		a.Launch = func(context.Context, string, string, []string) (channel.Process, error) {
			return nil, errors.New("nothing is started")
		}
		ch, err := k.New(a)
		if err != nil {
			t.Errorf("%s: %v", k.ID, err)
			continue
		}
		for i, cells := range rows(k, ch) {
			fmt.Fprintf(&out[i], "| %s | %s |\n", k.Label, strings.Join(cells, " | "))
		}
	}
	return out[0].String() + "\n" + out[1].String()
}

func rows(k channel.Kind, ch channel.Channel) [2][]string {
	l, can := ch.Limits(), channel.AbilitiesOf(ch)
	yes := func(a channel.Ability) string { return mark(slices.Contains(can, a)) }
	edits, shows := "", ""
	if slices.Contains(can, channel.CanEdit) {
		edits, shows = span(l.EditPace), cmp.Or(k.Streaming, "partial")
		if l.Edits > 0 {
			edits += fmt.Sprintf(", %d times", l.Edits)
		}
		if l.EditWindow > 0 {
			edits += ", within " + span(l.EditWindow)
		}
	}
	together := count(l.Together)
	if _, ok := ch.(channel.Gatherer); ok {
		together = "albums"
	}
	return [2][]string{
		{fmt.Sprintf("%d %s", l.Text, cmp.Or(l.Unit, channel.Characters)), string(l.Dialect), size(l.Files), together, count(l.Caption),
			yes(channel.CanFetch), edits, yes(channel.CanDelete), shows},
		{mark(l.Reactions), mark(l.Heard), span(l.Typing), mark(l.Threads), count(l.Choices), yes(channel.CanPoll), yes(channel.CanPin),
			reads(can), yes(channel.CanMenu), yes(channel.CanFinish), mark(k.Called)},
	}
}

// reads says whether it reads what was said before, and whether the network searches it.
func reads(can []channel.Ability) string {
	if slices.Contains(can, channel.CanSearch) {
		return "yes, and searches"
	}
	return mark(slices.Contains(can, channel.CanRead))
}

func mark(yes bool) string {
	if yes {
		return "yes"
	}
	return ""
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func span(d time.Duration) string {
	if d == 0 {
		return ""
	}
	s := d.String()
	s = strings.TrimSuffix(s, "m0s")
	if s != d.String() {
		s += "m"
	}
	if h := strings.TrimSuffix(s, "h0m"); h != s {
		s = h + "h"
	}
	return s
}

func size(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d MB", n>>20)
}

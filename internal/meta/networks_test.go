package meta

import (
	"go/ast"
	"go/token"
	"strings"
	"unicode"
)

// networks are the messaging networks that have a folder below gateway/channel.
// Their names stand there, in the list of package networks, and in hearth-channels.
// E-mail is not among them, because accounts and logins speak of it too, nor Signal,
// because systems send signals.
var networks = []string{"telegram", "irc", "mattermost", "discord", "slack", "xmpp", "matrix", "zulip",
	"nextcloudtalk", "googlechat", "whatsapp", "msteams", "imessage"}

// named are files that know a network nevertheless, and why.
var knowNetworks = map[string]string{
	"gateway/channel/networks/networks.go":         "the one list of networks",
	"app/channels/main.go":                         "the list of those that it connects",
	"app/channels/matrix.go":                       "as main.go: it needs a build tag",
	"app/channels/matrix_none.go":                  "as matrix.go",
	"gateway/setup/setup.go":                       "the first steps lead through one network; their steps have names on the wire",
	"gateway/feature/onboarding/answer.go":         "as setup.go",
	"gateway/protocol/first_steps.go":              "as setup.go",
	"app/cli/setup.go":                             "as setup.go",
	"app/cli/setup_ask.go":                         "as setup.go: what is asked, and where a bot is made",
	"gateway/channel/hub/settings.go":              "the names of networks that other gateways know",
	"app/cli/memory.go":                            "an example in a help text",
	"gateway/webhook/signature.go":                 "signatures of services, one of which is a network too",
	"gateway/channel/mattermost/client/receive.go": "a kind of its posts is named after another network",
	"gateway/feature/hooks/door.go":                "as signature.go",
	"gateway/document/pdf/font.go":                 "a key of PDF files",
	"gateway/document/pdf/write.go":                "as font.go",
	"gateway/skill/words.go":                       "addresses that malware sends to",
}

// networksApart: what a network is called, how its ids look and what its settings
// are is known to its folder alone (channel.Kind).
func networksApart(files []*file) (out []string) {
	for _, f := range files {
		if !f.prod() || knowNetworks[f.path] != "" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			word := ""
			switch n := n.(type) {
			case *ast.Ident:
				word = n.Name
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					word = n.Value
				}
			}
			for _, name := range networks {
				if names(word, name) && !strings.HasPrefix(f.dir+"/", "gateway/channel/"+name) && f.dir != "app/"+name {
					out = append(out, f.at(n)+": "+name+": what a network is called, and how it writes, is said by its channel.Kind in gateway/channel/"+
						name)
				}
			}
			return true
		})
	}
	return out
}

// names reports whether a word or text has a network's name in it. Short names are
// parts of other words, so they must stand alone.
func names(text, network string) bool {
	text = strings.ToLower(text)
	if len(network) > 5 {
		return strings.Contains(text, network)
	}
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if w == network {
			return true
		}
	}
	return false
}

package sections_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/sections"
)

// Keys leave the text for references to their own paths; everything else stays
// as it was, comments too.
func TestHoist(t *testing.T) {
	for name, c := range map[string]struct {
		raw, want string
		keys      map[string]string
	}{
		"a key, pasted with spaces": {
			"{ // mine\n models: { providers: { x: { apiKey: \" sk-aaaabbbb\\n\", baseUrl: 'http://h' } } } }",
			"{ // mine\n models: { providers: { x: { apiKey: \"keychain:models.providers.x.apiKey\", baseUrl: 'http://h' } } } }",
			map[string]string{"models.providers.x.apiKey": "sk-aaaabbbb"},
		},
		"several places": {
			`{tools:{web:{search:{apiKey:"search-key-1"}}},channels:{telegram:{botToken:"123456:token-token",accounts:{work:{botToken:"654321:token-token",webhookSecret:"hook-secret"}}}}}`,
			`{tools:{web:{search:{apiKey:"keychain:tools.web.search.apiKey"}}},channels:{telegram:{botToken:"keychain:channels.telegram.botToken",accounts:{work:{botToken:"keychain:channels.telegram.accounts.work.botToken",webhookSecret:"keychain:channels.telegram.accounts.work.webhookSecret"}}}}}`,
			map[string]string{
				"tools.web.search.apiKey": "search-key-1", "channels.telegram.botToken": "123456:token-token",
				"channels.telegram.accounts.work.botToken": "654321:token-token", "channels.telegram.accounts.work.webhookSecret": "hook-secret",
			},
		},
		"a key for vectors, and a program's secret at a login": {
			`{agents:{defaults:{memorySearch:{remote:{apiKey:"vector-key-1"}}}},mcp:{servers:{x:{oauth:{clientId:"c",clientSecret:"client-secret-1"}}}}}`,
			`{agents:{defaults:{memorySearch:{remote:{apiKey:"keychain:agents.defaults.memorySearch.remote.apiKey"}}}},` +
				`mcp:{servers:{x:{oauth:{clientId:"c",clientSecret:"keychain:mcp.servers.x.oauth.clientSecret"}}}}}`,
			map[string]string{"agents.defaults.memorySearch.remote.apiKey": "vector-key-1", "mcp.servers.x.oauth.clientSecret": "client-secret-1"},
		},
		"headers and variables, by name or by value; other ones stay": {
			`{mcp:{servers:{a:{env:{PLAINPW:"hunter2hunter2",LOG_LEVEL:"debugging",HOME_DIR:"/home/user1/some/where",X:"aB3dE5fG7hI9jK1lM3nO"},headers:{"X-Trace":"yes please"}}}},models:{providers:{p:{headers:{"X-Team":"sk-aaaabbbbccccdddd",Authorization:"Bearer aaaabbbbccccdddd",Accept:"application/json"}}}},skills:{entries:{s:{env:{CITY_NAME:"Heidelberg",SVC_PASS:"geheim123"}}}}}`,
			`{mcp:{servers:{a:{env:{PLAINPW:"keychain:mcp.servers.a.env.PLAINPW",LOG_LEVEL:"debugging",HOME_DIR:"/home/user1/some/where",X:"keychain:mcp.servers.a.env.X"},headers:{"X-Trace":"yes please"}}}},models:{providers:{p:{headers:{"X-Team":"keychain:models.providers.p.headers.X-Team",Authorization:"keychain:models.providers.p.headers.Authorization",Accept:"application/json"}}}},skills:{entries:{s:{env:{CITY_NAME:"Heidelberg",SVC_PASS:"keychain:skills.entries.s.env.SVC_PASS"}}}}}`,
			map[string]string{
				"mcp.servers.a.env.PLAINPW": "hunter2hunter2", "mcp.servers.a.env.X": "aB3dE5fG7hI9jK1lM3nO",
				"models.providers.p.headers.X-Team":        "sk-aaaabbbbccccdddd",
				"models.providers.p.headers.Authorization": "Bearer aaaabbbbccccdddd", "skills.entries.s.env.SVC_PASS": "geheim123",
			},
		},
		"references, short words and what was hidden stay": {
			`{models:{providers:{a:{apiKey:"${KEY_OF_A}"},b:{apiKey:"keychain:own.name"},c:{apiKey:"ollama"},d:{apiKey:{source:"env",id:"K"}},e:{apiKey:"` + config.RedactedMarker + `"}}}}`,
			`{models:{providers:{a:{apiKey:"${KEY_OF_A}"},b:{apiKey:"keychain:own.name"},c:{apiKey:"ollama"},d:{apiKey:{source:"env",id:"K"}},e:{apiKey:"` + config.RedactedMarker + `"}}}}`,
			nil,
		},
		"the gateway's own token stays: its programs read it there": {
			`{gateway:{auth:{token:"0123456789abcdef0123456789abcdef"}}}`, `{gateway:{auth:{token:"0123456789abcdef0123456789abcdef"}}}`, nil,
		},
		"elsewhere it is a word like any": {
			`{messages:{apiKey:"sk-aaaabbbb"},models:{apiKey:"sk-aaaabbbb"}}`, `{messages:{apiKey:"sk-aaaabbbb"},models:{apiKey:"sk-aaaabbbb"}}`,
			nil,
		},
		"what is no JSON is the edit's to refuse": {`{models:`, `{models:`, nil},
		"nothing": {`{}`, `{}`, nil},
	} {
		text, found, err := sections.All(networks()).Hoist(c.raw)
		if err != nil || text != c.want || len(found) != len(c.keys) {
			t.Errorf("%s: %q, %d keys, %v", name, text, len(found), err)
		}
		for _, f := range found {
			if c.keys[f.Path] != f.Value.Reveal() {
				t.Errorf("%s: %s holds another key", name, f.Path)
			}
			if strings.Contains(text, f.Value.Reveal()) {
				t.Errorf("%s: the key is still in the text", name)
			}
		}
		if again, more, err := sections.All(networks()).Hoist(text); err != nil || again != text || len(more) != 0 {
			t.Errorf("%s: a second time changes %q, %d keys, %v", name, again, len(more), err)
		}
	}
}

// What cannot be a key is refused by its place, without repeating it.
func TestHoist_noKey(t *testing.T) {
	_, _, err := sections.All(networks()).Hoist(`{models:{providers:{x:{apiKey:"two words sk-aaaabbbb"}}}}`)
	if err == nil || !strings.Contains(err.Error(), "models.providers.x.apiKey") || strings.Contains(err.Error(), "aaaabbbb") {
		t.Errorf("%v", err)
	}
}

func FuzzHoist(f *testing.F) {
	f.Add(`{models:{providers:{x:{apiKey:"sk-aaaabbbb"}}}}`)
	f.Add("{// c\n\"tools\":{web:{search:{apiKey:'search-key-1',}}}}")
	f.Add(`{models:{providers:{"a.b\n":{apiKey:"sk-aaaabbbb"},"":{apiKey:"sk-aaaabbbb"}}}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		text, found, err := sections.All(networks()).Hoist(raw)
		if err != nil || len(found) == 0 {
			if text != raw {
				t.Errorf("%q became %q without a key", raw, text)
			}
			return
		}
		if s := config.Read(text, config.Options{}); len(s.Issues) > len(config.Read(raw, config.Options{}).Issues) {
			t.Errorf("%q became %q: %v", raw, text, s.Issues)
		}
		if _, more, err := sections.All(networks()).Hoist(text); err != nil || len(more) != 0 {
			t.Errorf("%q: %d keys stayed, %v", text, len(more), err)
		}
	})
}

package sections_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/sections"
)

// needs is what has to stand beside a key so that the file is right, by the object
// that the key is in; of several the first that does.
var needs = map[string][]string{
	"secrets.providers.<id>":                {`{"source":"env","path":"/srv/a","command":"/srv/b"}`},
	"auth.profiles.<id>":                    {`{"mode":"token"}`},
	"models.providers.<id>.models[]":        {`{"id":"m"}`},
	"session.sendPolicy.rules[]":            {`{"action":"deny"}`},
	"agents.list[]":                         {`{"id":"w"}`},
	"agents.defaults.heartbeat.activeHours": {`{"start":"01:00","end":"22:00"}`},
	"agents.list[].heartbeat.activeHours":   {`{"start":"01:00","end":"22:00"}`},
	"agents.defaults.memorySearch":          {`{"model":"m"}`},
	"bindings[]":                            {`{"agentId":"main","match.channel":"m",".agents.list[].id":"x"}`},
	"bindings[].match.peer":                 {`{"kind":"direct","id":"1"}`},
	"hooks":                                 {`{"token":"0123456789abcdef012","allowedSessionKeyPrefixes":["hook:"]}`},
	"hooks.mappings[]":                      {`{"messageTemplate":"m","textTemplate":"m","match.path":"m"}`},
	"hooks.mappings[].signature":            {`{"kind":"github","secret":"0123456789abcdef01"}`},
	"tools.media.audio.models[]": {`{"provider":"p","model":"m"}`, `{"command":"c","args":["{{MediaPath}}"]}`,
		`{"provider":"p","model":"m","command":"c","args":["{{MediaPath}}"]}`},
	"channels.telegram.customCommands[]":                 {`{"command":"c","description":"d"}`},
	"channels.telegram.accounts.<name>.customCommands[]": {`{"command":"c","description":"d"}`},
	"mcp.servers.<id>":                                   {`{"command":"/srv/a"}`, `{"url":"https://h.example"}`, `{}`},
}

// named are names that people choose, where not any word is one.
var named = map[string]string{
	"auth.profiles":                "a:b",
	"agents.defaults.models":       "a/b",
	"hooks.internal.entries.x.env": "X_TOKEN",
	"mcp.servers.x.env":            "X_TOKEN",
}

// settled are keys that can have one value only, and why.
var settled = map[string]string{
	"$schema":                     "it is for editors",
	"auth.profiles.<id>.provider": "the account's name says it already",
}

// judged are keys whose words all mean the same: another one is refused.
var judged = map[string]string{
	"tools.exec.host":            "commands run on this machine, by either word",
	"mcp.servers.<id>.transport": "the other keys say it already",
}

// TestEveryKeyIsRead: each key that the schema, the reference and the page know
// changes what its owner gets when a file says it. A key of one word only has to be
// refused with another one.
func TestEveryKeyIsRead(t *testing.T) {
	looked := 0
	for _, section := range sections.All(networks()) {
		list := config.Sections{section}
		if list[0] != config.Section(agents.Section) {
			list = append(list, agents.Section) // whose entries other sections have keys of
		}
		for _, d := range list[:1].Describe() {
			if d.Children > 0 || settled[d.Path] != "" {
				continue
			}
			looked++
			if why := unread(list, d); why != "" {
				t.Errorf("%s: %s", d.Path, why)
			}
		}
	}
	if looked < 300 {
		t.Errorf("only %d keys were looked at", looked)
	}
}

// unread says why a key is not known to be read, "" when it is.
func unread(list config.Sections, d config.Described) (why string) {
	for way := range 3 {
		if why = unreadBeside(list, d, beside(d, way)); why == "" {
			return ""
		}
	}
	return why
}

// beside is a document with what has to stand beside a key.
func beside(d config.Described, way int) map[string]any {
	base := map[string]any{}
	for _, at := range slices.Sorted(maps.Keys(needs)) {
		if !strings.HasPrefix(d.Path, at+".") {
			continue
		}
		var all map[string]any
		if err := json.Unmarshal([]byte(needs[at][min(way, len(needs[at])-1)]), &all); err != nil {
			panic(err)
		}
		for key, value := range all {
			if whole, ok := strings.CutPrefix(key, "."); ok { // somewhere else
				put(base, stepsOf(whole), value)
				continue
			}
			put(base, stepsOf(at+"."+key), value)
		}
	}
	return base
}

func unreadBeside(list config.Sections, d config.Described, base map[string]any) (why string) {
	before := reading(list, base)
	values := candidates(d)
	for _, v := range values {
		after := reading(list, with(base, d.Path, v))
		switch {
		case len(after.Issues) > 0:
			why = fmt.Sprintf(", for example %v: %v", v, after.Issues[0])
		case differ(before.Config, after.Config):
			return ""
		}
	}
	if len(d.Schema.Enum) == 1 || judged[d.Path] != "" {
		if s := reading(list, with(base, d.Path, "no such word")); len(s.Issues) > 0 {
			return ""
		}
	}
	return fmt.Sprintf("none of %d values changes anything%s", len(values), why)
}

// older are names of older versions and of other gateways: they are read, by the
// object that they are in, and told of nowhere but at the key that they mean.
var older = map[string][]string{
	// These are refused: nobody may think that they bind.
	"bindings[].match": {"guildId", "roles", "teamId"},

	"channels.telegram":                                             {"streamMode"},
	"channels.telegram.streaming":                                   {"block", "chunkMode"},
	"channels.telegram.streaming.preview":                           {"chunk"},
	"channels.telegram.groups.<id>":                                 {"users"},
	"channels.telegram.groups.<id>.topics.<number>":                 {"users"},
	"channels.telegram.accounts.<name>":                             {"streamMode"},
	"channels.telegram.accounts.<name>.groups.<id>":                 {"users"},
	"channels.telegram.accounts.<name>.groups.<id>.topics.<number>": {"users"},
	"channels.telegram.accounts.<name>.streaming":                   {"block", "chunkMode"},
	"channels.telegram.accounts.<name>.streaming.preview":           {"chunk"},
	"gateway.nodes": {"allowCommands", "denyCommands"},
	"mcp.servers.<id>": {"connectionTimeoutMs", "disabled", "requestTimeoutMs", "toolFilter", "type",
		"workingDirectory"},
	"secrets.providers.<id>": {"maxOutputBytes"},
	"session.resetByType":    {"direct"},
}

// free are objects whose other keys are somebody else's, and read as they are.
var free = []string{"hooks.internal.entries.<hook>", "skills.entries.<skill>.config"}

// TestEveryKeyThatIsReadIsKnown: of all words in the code of those who read the file,
// none is a key that is read where the schema, the reference and the page have none.
func TestEveryKeyThatIsReadIsKnown(t *testing.T) {
	all := sections.All(networks())
	schema, words := all.Schema(), keyWords(t)
	objects := []string{""}
	for _, d := range all.Describe() {
		if d.Schema.Type == "object" || d.Children > 0 && d.Schema.Type != "array" {
			objects = append(objects, d.Path)
		}
		for at := d.Path; strings.Contains(at, "."); { // objects that nobody describes
			at = at[:strings.LastIndexByte(at, '.')]
			objects = append(objects, at)
		}
	}
	slices.Sort(objects)
	objects = slices.Compact(objects)
	found := map[string][]string{}
	for _, at := range objects {
		if slices.Contains(free, at) {
			continue
		}
		near := atRoot(all, at)
		for chunk := range slices.Chunk(words, 40) { // a reading tells of no more than 50 keys
			for _, key := range askedFor(near, at, chunk) {
				path := strings.TrimPrefix(at+"."+key, ".")
				switch known := schema.At(schemaPath(path)) != nil; {
				case !known && slices.Contains(older[at], key):
					found[at] = append(found[at], key)
				case !known:
					t.Errorf("%s is read, and config.schema, docs/configuration.md and the page do not know it: it is no field of its section, "+
						"or an older name that is missing in this test's list", path)
				}
			}
		}
	}
	if diff := cmp.Diff(older, found); diff != "" {
		t.Errorf("older names that are read: %s", diff)
	}
}

// atRoot are the sections that may know what is in an object.
func atRoot(all config.Sections, object string) (out config.Sections) {
	root := func(path string) string {
		path, _, _ = strings.Cut(path, "/")
		first, _, _ := strings.Cut(path, ".")
		return first
	}
	for i, name := range all.Names() {
		if object == "" || root(name) == "" || root(name) == root(object) {
			out = append(out, all[i])
		}
	}
	return out
}

// askedFor are those of some keys that somebody reads in an object.
func askedFor(all config.Sections, at string, keys []string) (out []string) {
	in, doc := map[string]any{}, map[string]any{}
	for _, k := range keys {
		in[k] = 0
	}
	if at == "" {
		doc = in
	} else {
		put(doc, stepsOf(at), in)
	}
	s := reading(all, doc)
	return slices.DeleteFunc(slices.Clone(keys), func(k string) bool {
		return slices.ContainsFunc(s.Warnings, func(w config.Issue) bool {
			unused := strings.Contains(w.Message, "not known") || strings.Contains(w.Message, "does not use this key yet")
			return unused && (strings.HasSuffix(w.Path, "."+k) || w.Path == k)
		})
	})
}

func schemaPath(path string) (p config.Path) {
	for _, step := range stepsOf(path) {
		p = append(p, config.Key(step))
	}
	return p
}

// keyWords are the texts that may be keys, of all code that knows of the settings.
func keyWords(t *testing.T) (out []string) {
	t.Helper()
	key := regexp.MustCompile(`^[a-z][A-Za-z0-9]{1,40}$`)
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return strings.HasSuffix(i.Path.Value, "/gateway/config\"") }) {
			return nil
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if word, err := strconv.Unquote(lit.Value); err == nil && key.MatchString(word) {
					out = append(out, word)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) < 500 {
		t.Fatalf("only %d words were found", len(out))
	}
	return out
}

// differ reports whether two settings mean something else to anybody.
func differ(a, b config.Config) bool {
	one, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	other, err := json.Marshal(b)
	if err != nil {
		panic(err)
	}
	comparable := a.Sections.Equal(a.Sections)
	return !bytes.Equal(one, other) || comparable && !a.Sections.Equal(b.Sections)
}

func reading(list config.Sections, doc map[string]any) *config.Snapshot {
	text, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return config.Read(string(text), config.Options{Sections: list})
}

// candidates are values of which one is right for a key.
func candidates(d config.Described) (out []any) {
	words := []string{d.Hint.Example, "x", "a/b", "http://127.0.0.1:1", "https://h.example/x", "08:00", "36h", "/srv/x", "Europe/Vienna",
		"ctrl+alt+x", "192.168.1.5", "a:b", "hook:x", "09:00", "javascript", "0123456789abcdef0123", "1111111111:AAaaaaaaaaaaaaaaaaaaaa",
		"X-Name", "ask", "last", "full", "off",
		"age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p", "RWQEZTAXVQA0is18/Glxbj3ivH7mY7p/ZRR43wLZm0MsOpgwPQr0gu3y"}
	typ, _ := d.Schema.Type.(string)
	if d.Schema.Type == nil || d.Secret {
		typ = "any"
	}
	if typ == "boolean" || typ == "any" {
		out = append(out, true, false)
	}
	if typ == "integer" || typ == "number" || typ == "any" {
		out = append(out, 1, 2)
		if d.Schema.Minimum != nil {
			out = append(out, *d.Schema.Minimum, *d.Schema.Minimum+1, *d.Schema.Maximum, *d.Schema.Maximum-1)
		}
	}
	if typ == "string" || typ == "any" {
		for _, w := range slices.Concat(d.Schema.Enum, words) {
			out = append(out, w)
		}
	}
	if typ == "array" || typ == "any" {
		if i := d.Schema.Items; i != nil {
			for _, w := range i.Enum {
				out = append(out, []string{w})
			}
		}
		for _, w := range words {
			out = append(out, []string{w})
		}
		out = append(out, []string{})
	}
	if typ == "object" || typ == "any" {
		out = append(out, map[string]any{"x": "y"}, map[string]any{})
	}
	return out
}

// with is a copy of a document with one value more.
func with(doc map[string]any, path string, value any) map[string]any {
	b, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(b, &out); err != nil {
		panic(err)
	}
	put(out, stepsOf(path), value)
	return out
}

// stepsOf are the steps of a described path, with names in place of <id>.
func stepsOf(path string) []string {
	steps := strings.Split(strings.ReplaceAll(path, "[]", ".[]"), ".")
	for i, s := range steps {
		if strings.HasPrefix(s, "<") {
			steps[i] = "x"
			if n, ok := named[strings.ReplaceAll(strings.Join(steps[:i], "."), ".[]", "[]")]; ok {
				steps[i] = n
			}
		}
	}
	return steps
}

// put puts a value at a place; "[]" is the first of a list.
func put(in map[string]any, steps []string, value any) {
	key := steps[0]
	switch {
	case len(steps) == 1:
		in[key] = value
	case steps[1] == "[]" && len(steps) == 2:
		in[key] = []any{value}
	case steps[1] == "[]":
		list, _ := in[key].([]any)
		if len(list) == 0 {
			list = []any{map[string]any{}}
		}
		put(list[0].(map[string]any), steps[2:], value)
		in[key] = list
	default:
		below, _ := in[key].(map[string]any)
		if below == nil {
			below = map[string]any{}
			in[key] = below
		}
		put(below, steps[1:], value)
	}
}

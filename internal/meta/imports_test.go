package meta

import (
	"fmt"
	"slices"
	"strings"
)

// leaves may import only these rooms of ours. They are what everybody may
// import, so they must not lead anywhere.
var leaves = map[string][]string{
	"gateway/isolate":             {},
	"gateway/pretty":              {},
	"internal/random":             {},
	"internal/charset":            {},
	"internal/httpbody":           {},
	"internal/rpclines":           {},
	"internal/sleep":              {},
	"internal/text":               {},
	"discovery":                   {},
	"gateway/approval/plan":       {},
	"gateway/awake":               {},
	"gateway/document":            {"gateway/isolate", "gateway/document/pdf", "internal/charset"},
	"gateway/document/pdf":        {},
	"gateway/channel":             {},
	"gateway/stopwatch":           {},
	"gateway/egress":              {"gateway/awake", "internal/text"},
	"gateway/failpoint":           {},
	"gateway/harden":              {},
	"gateway/media":               {"gateway/model", "gateway/statedir"},
	"gateway/model":               {},
	"gateway/protocol":            {"gateway/model"},
	"gateway/sse":                 {},
	"gateway/process":             {"gateway/awake", "gateway/process/pinned", "gateway/sandbox"},
	"gateway/process/pinned":      {},
	"gateway/sandbox":             {},
	"gateway/statedir":            {},
	"gateway/store":               {"gateway/failpoint", "gateway/statedir"},
	"gateway/hostzone":            {},
	"gateway/secret":              {},
	"gateway/webhook":             {"gateway/secret"},
	"gateway/secret/redact":       {},
	"gateway/secret/ref":          {"gateway/secret"},
	"gateway/logfile":             {"gateway/config", "gateway/protocol"},
	"frontend":                    {},
	"skills":                      {},
	"gateway/heartbeat":           {"gateway/config"},
	"gateway/skill":               {},
	"gateway/codemode/engine":     {"gateway/codemode/sourcemap"},
	"gateway/codemode/sourcemap":  {},
	"gateway/codemode/typescript": {"gateway/codemode/sourcemap"},
	"gateway/method": {"gateway/approval", "gateway/config", "gateway/protocol", "gateway/secret", "gateway/secret/redact",
		"gateway/server", "gateway/session", "gateway/store"},
	"gateway/host":            {"gateway/command", "gateway/method", "gateway/protocol", "gateway/tool"},
	"gateway/secret/vault":    {"gateway/secret", "gateway/statedir"},
	"gateway/secret/plain":    {"gateway/secret", "gateway/statedir"},
	"gateway/secret/keychain": {"gateway/secret", "gateway/secret/vault", "gateway/statedir"},

	"gateway/config": {"gateway/statedir", "gateway/protocol", "gateway/secret", "internal/text"},
}

// walls are imports that would turn an arrow of docs/architecture.md around.
// A path stands for itself and all below it.
var walls = []struct {
	from, except []string
	to           []string
	why          string
}{
	{
		from: []string{"gateway/agent", "gateway/session", "gateway/prompt", "gateway/tool", "gateway/provider", "gateway/spend",
			"gateway/modelcheck",
			"gateway/health"}, except: []string{"gateway/tool/gate"},
		to:  []string{"gateway/server", "gateway/client", "gateway/pairing", "gateway/channel"},
		why: "the engine does not know who talks to it",
	},
	{
		from: []string{"gateway/outbound"},
		to: []string{"gateway/server", "gateway/client", "gateway/pairing", "gateway/session", "gateway/agent", "gateway/inbound",
			"gateway/channel/loopback", "gateway/channel/telegram"},
		why: "deliveries know the contract of channels and nothing of who asks for them",
	},
	{
		from: []string{"gateway"}, except: []string{"gateway"},
		to:  []string{"app", "frontend"},
		why: "only package gateway wires rooms together, and programs start it",
	},
	{
		from: []string{"gateway/agent"},
		to:   []string{"gateway/session", "gateway/store", "gateway/provider"},
		why:  "a run has no I/O of its own",
	},
	{
		from: []string{"gateway/provider"}, except: modelsOfSessions,
		to:  []string{"gateway/protocol", "gateway/session", "gateway/store", "gateway/agent", "gateway/tool"},
		why: "a model's dialect knows nothing of sessions or of our wire",
	},
	{
		from: []string{"gateway/server", "gateway/client"},
		to:   []string{"gateway/session", "gateway/agent", "gateway/provider", "gateway/tool", "gateway/config"},
		why:  "the edges carry frames; what they mean is handed in",
	},
	{
		from: []string{"gateway/openaiserver"},
		to:   []string{"gateway/session", "gateway/store", "gateway/agent", "gateway/provider", "gateway/server"},
		why:  "requests of programs know the engine by one interface",
	},
	{
		from: []string{"app", "gateway"}, except: readSettings,
		to:  []string{"gateway/config"},
		why: "this package has its own Options, which package gateway fills from the config",
	},
	{
		from: []string{"app", "gateway", "frontend", "discovery"},
		to:   []string{"gateway/provider/scripted", "gateway/gatewaytest", "build"},
		why:  "the scripted model and what starts a gateway on it are for tests and measurements",
	},
}

// modelsOfSessions are the packages below gateway/provider that are no dialects:
// they bring models to sessions and clients.
var modelsOfSessions = []string{"gateway/provider/accounts", "gateway/provider/catalog", "gateway/provider/choice",
	"gateway/provider/download", "gateway/provider/turn", "gateway/provider/vectors"}

// readSettings are the packages that read the settings themselves, beside those
// of features: what they know changes with the file.
var readSettings = []string{
	"app/cli", "app/dial", "gateway",
	"gateway/agents",
	"gateway/answers",
	"gateway/approval",
	"gateway/channel/hub",
	"gateway/clock",
	"gateway/codemode/workbench",
	"gateway/config",
	"gateway/dispatch",
	"gateway/egress/publicweb",
	"gateway/execution",
	"gateway/heartbeat",
	"gateway/host/enabled",
	"gateway/job",
	"gateway/logfile",
	"gateway/memory",
	"gateway/method",
	"gateway/move", // of a Hearth whose gateway does not run
	"gateway/node/policy",
	"gateway/openaiserver",
	"gateway/pairing/token",
	"gateway/provider",
	"gateway/provider/accounts",
	"gateway/provider/catalog",
	"gateway/provider/choice",
	"gateway/provider/configured",
	"gateway/provider/turn",
	"gateway/provider/vectors",
	"gateway/reach",
	"gateway/release",
	"gateway/rules",
	"gateway/secret/lookup",
	"gateway/sections",
	"gateway/session/policy",
	"gateway/skill/catalog",
	"gateway/subagent",
	"gateway/speech",
	"gateway/spend/budget",
	"gateway/systemprompt",
	"gateway/tool/gate",
	"gateway/tool/policy",
}

// feature is the feature that a folder belongs to, "" for none.
func feature(dir string) string {
	rest, ok := strings.CutPrefix(dir, "gateway/feature/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// appMayImport is all that programs know of the engine.
var appMayImport = []string{"gateway", "gateway/client", "gateway/protocol", "gateway/statedir", "gateway/config", "gateway/sections",
	"gateway/secret", "gateway/secret/keeper", "gateway/secret/lookup",
	"gateway/mcp/serve", "gateway/mcp/named", "gateway/channel", "gateway/channel/program/check", "gateway/channel/probe",
	"gateway/acp", "gateway/codemode/workbench",
	"gateway/pairing/identity", "gateway/pairing/token", "gateway/reach",
	"gateway/release", "gateway/recovery", "gateway/backup", "gateway/backup/restore", "gateway/move", "gateway/support",
	"gateway/harden", "frontend", "discovery",
	"frontend/src/i18n", "internal/charset", "internal/licenses", "internal/sleep", "internal/text", "docs"}

// hosts are programs that do on their machine what a gateway does on its own, and
// what more they may import for it.
var hosts = map[string][]string{
	"app/channels": {"gateway/channel", "gateway/channel/program/serve", "gateway/channel/email", "gateway/channel/email/client",
		"gateway/channel/irc", "gateway/channel/irc/client", "gateway/channel/mattermost", "gateway/channel/mattermost/client",
		"gateway/channel/discord", "gateway/channel/discord/client", "gateway/channel/slack", "gateway/channel/slack/client",
		"gateway/channel/xmpp", "gateway/channel/xmpp/client", "gateway/channel/matrix", "gateway/channel/matrix/client",
		"gateway/channel/zulip", "gateway/channel/zulip/client", "gateway/channel/signal", "gateway/channel/signal/client",
		"gateway/channel/nextcloudtalk", "gateway/channel/nextcloudtalk/client",
		"gateway/channel/line", "gateway/channel/line/client", "gateway/channel/googlechat", "gateway/channel/googlechat/client",
		"gateway/channel/msteams", "gateway/channel/msteams/client"},
	"app/whatsapp": {"gateway/channel", "gateway/channel/program/serve", "gateway/channel/whatsapp", "gateway/channel/intake",
		"gateway/channel/markup"},
	"app/node": {"gateway/process", "gateway/sandbox", "gateway/approval/plan", "gateway/launch"},
}

// libraryRooms says which rooms may import a library, so that replacing it
// stays one room's work.
var libraryRooms = map[string][]string{
	"go.etcd.io/bbolt": {"gateway/store"},
	"github.com/coder/websocket": {"gateway/server", "gateway/client",
		"gateway/channel/mattermost/client", "gateway/channel/mattermost/mattermosttest",
		"gateway/channel/discord/client", "gateway/channel/discord/discordtest",
		"gateway/channel/slack/client", "gateway/channel/slack/slacktest"},
	"github.com/spf13/cobra":                          {"app/cli"},
	"github.com/spf13/pflag":                          {"app/cli"},
	"mvdan.cc/sh/v3/syntax":                           {"gateway/approval/plan"},
	"codeberg.org/readeck/go-readability/v2":          {"gateway/tool/web"},
	"github.com/JohannesKaufmann/html-to-markdown/v2": {"gateway/tool/web"},
	"github.com/fsnotify/fsnotify":                    {"gateway/config", "gateway/skill", "gateway/watch/file"},
	"go.yaml.in/yaml/v3":                              {"gateway/skill", "gateway/imports/hermes"},
	"filippo.io/age":                                  {"gateway/backup"},
	"aead.dev/minisign":                               {"gateway/release", "build/release"},
	"golang.org/x/mod/semver":                         {"gateway/release"},
	"github.com/creack/pty":                           {"gateway/process"},
	"text/template":                                   {}, // either makes the linker keep every method of every type
	"html/template":                                   {},
	"github.com/modelcontextprotocol/go-sdk/mcp":      {"gateway/mcp", "gateway/mcp/serve"},
	"github.com/modelcontextprotocol/go-sdk/auth":     {"gateway/mcp/login"},
	"github.com/modelcontextprotocol/go-sdk/oauthex":  {"gateway/mcp/login"},
	"github.com/coder/acp-go-sdk":                     {"gateway/acp"},
	"github.com/zalando/go-keyring":                   {"gateway/secret/keychain"},
	"github.com/godbus/dbus/v5": {"gateway/secret/keychain", "app/tray", "app/notify", "app/notify/notifytest",
		"app/node", "app/power", "build/benchtool"},
	"github.com/jezek/xgb":          {"app/hotkey"},
	"github.com/jezek/xgb/xproto":   {"app/hotkey"},
	"github.com/getlantern/systray": {"app/tray"},
	"github.com/wailsapp/wails/v2":  {"app/window"},
	"github.com/grandcat/zeroconf":  {"discovery"},
	"github.com/miekg/dns":          {"discovery"},
	"rsc.io/qr":                     {"app/cli", "gateway/qrcode"},
	"github.com/pdfcpu/pdfcpu":      {"gateway/document/pdf"},

	"github.com/evanw/esbuild/pkg/api":   {"gateway/codemode/typescript"},
	"github.com/fastschema/qjs":          {"gateway/codemode/engine"},
	"github.com/tetratelabs/wazero":      {"gateway/codemode/engine"},
	"github.com/klauspost/compress/s2":   {"gateway/codemode/engine"},
	"github.com/klauspost/compress/zstd": {"gateway/backup", "gateway/imports/openclaw"},

	"github.com/mmcdole/gofeed/rss":             {"gateway/watch/feed"},
	"github.com/mmcdole/gofeed/atom":            {"gateway/watch/feed"},
	"github.com/andybalholm/cascadia":           {"gateway/watch/page"},
	"github.com/emersion/go-ical":               {"gateway/watch/calendar"},
	"github.com/emersion/go-webdav":             {"gateway/watch/calendar"},
	"github.com/emersion/go-webdav/caldav":      {"gateway/watch/calendar"},
	"github.com/emersion/go-imap/v2":            {"gateway/watch/mailbox", "gateway/channel/email/client"},
	"github.com/emersion/go-imap/v2/imapclient": {"gateway/watch/mailbox", "gateway/channel/email/client"},
	"github.com/emersion/go-message":            {"gateway/watch/mailbox", "gateway/channel/email/client"},
	"github.com/emersion/go-message/mail":       {"gateway/watch/mailbox", "gateway/channel/email/client"},

	"github.com/emersion/go-smtp":            {"gateway/channel/email/client"},
	"github.com/emersion/go-sasl":            {"gateway/channel/email/client"},
	"github.com/emersion/go-msgauth/dkim":    {"gateway/channel/email/client"},
	"github.com/emersion/go-msgauth/authres": {"gateway/channel/email/client"},

	"maunium.net/go/mautrix":                   {"gateway/channel/matrix/client"},
	"maunium.net/go/mautrix/crypto":            {"gateway/channel/matrix/client"},
	"maunium.net/go/mautrix/crypto/olm":        {"gateway/channel/matrix/client"},
	"maunium.net/go/mautrix/crypto/attachment": {"gateway/channel/matrix/client"},
	"maunium.net/go/mautrix/event":             {"gateway/channel/matrix/client"},
	"maunium.net/go/mautrix/id":                {"gateway/channel/matrix/client"},

	"mellium.im/xmpp":     {"gateway/channel/xmpp/client"},
	"mellium.im/xmpp/jid": {"gateway/channel/xmpp/client"},
	"mellium.im/sasl":     {"gateway/channel/xmpp/client"},

	"golang.org/x/text/unicode/norm": {"gateway/tool/untrusted", "gateway/tool/file", "gateway/safepath", "gateway/skill", "gateway/search",
		"gateway/document/pdf", "gateway/feature/agents"},
}

// copyleft are libraries whose licence would be that of every program that links them.
var copyleft = []string{"go.mau.fi/whatsmeow", "go.mau.fi/libsignal"}

func under(path string, modules []string) bool {
	return slices.ContainsFunc(modules, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
}

func importDirection(files []*file) []string {
	var out []string
	for _, f := range files {
		if !f.prod() {
			continue
		}
		for _, to := range f.imports() {
			if why := forbidden(f.dir, to); why != "" {
				out = append(out, fmt.Sprintf("%s imports %s: %s", f.path, to, why))
			}
		}
	}
	return out
}

// wholeGateway is what tests of a whole gateway share.
const wholeGateway = "gateway/gatewaytest"

// testDirection: a test that stands outside of its package (package x_test) may
// import the composition, though that imports the package; one inside may not. And
// a feature's tests know no other feature.
func testDirection(files []*file) []string {
	var out []string
	for _, f := range files {
		if !f.test || !below(f.dir, []string{"gateway"}) || f.dir == wholeGateway {
			continue
		}
		inside := !strings.HasSuffix(f.ast.Name.Name, "_test")
		for _, to := range f.imports() {
			switch other := feature(to); {
			case inside && (to == "gateway" || to == wholeGateway):
				out = append(out, fmt.Sprintf("%s imports %s: what asks a whole gateway stands outside, in package %s_test", f.path, to,
					f.ast.Name.Name))
			case feature(f.dir) != "" && other != "" && other != feature(f.dir):
				out = append(out, fmt.Sprintf("%s imports %s: a feature's tests know no other feature, they ask over the wire", f.path, to))
			}
		}
	}
	return out
}

func forbidden(from, to string) string {
	if allowed, ok := leaves[from]; ok && ours(to) && !slices.Contains(allowed, to) {
		return "this room is a leaf, it may import of ours only: " + strings.Join(allowed, ", ")
	}
	if to == "gateway" && !strings.HasPrefix(from, "app/") && from != "build/settings" {
		return "package gateway is the place that wires rooms together; nothing but a program imports it"
	}
	if strings.HasPrefix(from, "app/") && ours(to) && !strings.HasPrefix(to, "app/") && !slices.Contains(appMayImport, to) &&
		!slices.Contains(hosts[from], to) {
		return "programs know the engine only through " + strings.Join(appMayImport, ", ")
	}
	if to := feature(to); to != "" && from != "gateway" && from != "gateway/sections" && feature(from) != to {
		if feature(from) != "" {
			return "features do not import each other: declare the interface that you need, and gateway/features.go passes the other"
		}
		return "only gateway/features.go, and gateway/sections for their settings, know the features: what both need is a package of " +
			"the kernel"
	}
	for _, w := range walls {
		if w.to[0] == "gateway/config" && feature(from) != "" {
			continue // a feature owns its settings
		}
		if below(from, w.from) && !slices.Contains(w.except, from) && below(to, w.to) {
			return w.why
		}
	}
	return ""
}

func ours(p string) bool {
	return below(p, []string{"app", "gateway", "frontend", "skills", "discovery", "build", "internal"})
}

func below(p string, rooms []string) bool {
	for _, r := range rooms {
		if p == r || strings.HasPrefix(p, r+"/") {
			return true
		}
	}
	return false
}

func libraryOwners(files []*file) []string {
	var out []string
	for _, f := range files {
		if !f.prod() {
			continue
		}
		for _, to := range f.imports() {
			if under(to, copyleft) && f.dir != "app/whatsapp" {
				out = append(out, fmt.Sprintf("%s imports %s, which brings the GPL along: only hearth-whatsapp has it (app/whatsapp)", f.path, to))
			}
			if rooms, ok := libraryRooms[to]; ok && !slices.Contains(rooms, f.dir) {
				out = append(out, fmt.Sprintf("%s imports %s, which belongs to: %s", f.path, to, strings.Join(rooms, ", ")))
			}
		}
	}
	return out
}

func strongRandom(files []*file) []string {
	var out []string
	for _, f := range files {
		for _, p := range []string{"math/rand", "math/rand/v2"} {
			if f.prod() && f.dir != "internal/seed" && f.localName(p) != "" {
				out = append(out, f.path+" imports "+p+": use crypto/rand, also for jitter, so that nobody has to judge")
			}
		}
	}
	return out
}

// repeatable: tests get their chance from the one place that tells the seed. What
// benchmarks are fed with is made up, not drawn.
func repeatable(files []*file) []string {
	var out []string
	for _, f := range files {
		if !f.test || f.dir == "internal/seed" || strings.HasSuffix(f.path, "bench_test.go") {
			continue
		}
		for _, p := range []string{"math/rand", "math/rand/v2"} {
			for _, n := range f.uses(p, "Rand", "New", "NewZipf", "Zipf") {
				out = append(out, f.at(n)+": chance that nobody can repeat: take it from internal/seed")
			}
		}
	}
	return out
}

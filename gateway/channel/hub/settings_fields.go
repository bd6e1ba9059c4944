package hub

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

// fields are the keys of an account.
func (a *Configured) fields(k channel.Kind) []config.Field {
	out := []config.Field{config.Switch{Key: "enabled", To: &a.Enabled, Help: "whether it is switched on"}}
	out = append(append(append(out, a.particular(k)...), a.rules(k)...), a.menu(k)...)
	return append(append(out, a.streaming()...), a.text(k)...)
}

// particular are the keys that only one network has.
func (a *Configured) particular(k channel.Kind) (out []config.Field) {
	for _, s := range k.Settings {
		hint := config.Hint{Default: cmp.Or(s.Unset, "none")}
		switch s.Form {
		case channel.SecretText:
			key := config.Hidden{Key: s.Key, To: a.secrets[s.Key], Check: shaped(s), Hint: hint, Help: s.About}
			if s.File != "" {
				key.Max = longestSecret
				out = append(out, secretFile(s, a.secrets[s.Key]))
			}
			out = append(out, key)
		case channel.WebAddress:
			out = append(out, config.Text{Key: s.Key, To: a.texts[s.Key], Max: 2048, Is: config.WebAddress, Hint: hint, Help: s.About})
		case channel.PublicAddress:
			out = append(out, config.Text{Key: s.Key, To: a.texts[s.Key], Max: 2048, Is: publicAddress, Hint: hint, Help: s.About})
		case channel.Words:
			out = append(out, config.Text{Key: s.Key, To: a.texts[s.Key], Max: 512, Is: line(s), Hint: hint, Help: s.About})
		case channel.WordList:
			out = append(out, config.Texts{Key: s.Key, To: a.lists[s.Key], Max: 512, Is: line(s), Unset: true, Hint: hint, Help: s.About})
		case channel.OnOff:
			out = append(out, config.Switch{Key: s.Key, To: a.switches[s.Key], Help: s.About})
		case channel.PortNumber:
			out = append(out, config.Number{Key: s.Key, To: a.ports[s.Key], Min: 1, Max: 65535, Hint: hint, Help: s.About})
		}
	}
	return out
}

// longestSecret is the longest of those that have files.
const longestSecret = 8192

// secretFile is a key that names the file which a secret is in.
func secretFile(s channel.Setting, to *config.Secret) config.Field {
	path := new(string)
	return config.Text{
		Key: s.File, To: path, Max: 4096, Hint: config.Hint{Default: "none"}, Help: "a file with `" + s.Key + "`, by its whole path or with ~/",
		Is: func(text string) (string, error) {
			r := secret.Ref{Source: secret.SourceFile, Path: text}
			if err := r.Check(); err != nil {
				return "", err
			}
			*to = secret.Reference(r)
			return text, nil
		},
	}
}

// shaped judges a secret that must look like one. One from a variable that is not
// set was warned about already.
func shaped(s channel.Setting) func(string) error {
	return func(text string) error {
		if text != "" && !s.Valid(text) {
			return errors.New(s.Help)
		}
		return nil
	}
}

// line judges a text that has one line.
func line(s channel.Setting) func(string) (string, error) {
	return func(text string) (string, error) {
		text = strings.TrimSpace(text)
		if text == "" || strings.ContainsFunc(text, unicode.IsControl) {
			return "", errors.New("expected a line of text")
		}
		if s.Valid != nil && !s.Valid(text) {
			return "", errors.New(s.Help)
		}
		return text, nil
	}
}

func publicAddress(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("expected the public https:// address of this gateway, without ? or #")
	}
	return s, nil
}

// rules are the keys about who may talk.
func (a *Configured) rules(k channel.Kind) []config.Field {
	groups := config.Map[GroupRules]{
		Key: "groups", To: &a.Groups, Name: "<id>", New: func(string) GroupRules { return GroupRules{Enabled: true} },
		One: func(_ string, g *GroupRules) config.Field { return config.Object{Fields: g.fields()} },
	}
	out := []config.Field{
		config.Choice{
			Key: "dmPolicy", To: &a.DMPolicy, Among: []string{"pairing", "allowlist", "open", "disabled"}, Read: dmPolicy,
			Help: "who may write to it directly: `pairing` (strangers get a code that you confirm), `allowlist`, `open` (anybody), `disabled`",
		},
		config.Texts{
			Key: "allowFrom", To: &a.AllowFrom, Read: sender, Hint: config.Hint{Default: "`[]`"},
			Help: "ids that may always write, as guests: it makes nobody the owner",
		},
		config.Choice{
			Key: "groupPolicy", To: &a.GroupPolicy, Among: []string{"allowlist", "open", "disabled"},
			Help: "in groups: `allowlist` (those in `groups`), `open` (all), `disabled`",
		},
		config.Texts{
			Key: "groupAllowFrom", To: &a.GroupAllowFrom, Read: sender, Hint: config.Hint{Default: "everybody in a listed group"},
			Help: "ids that may write in groups",
		},
		groups,
		config.MaybeNumber{
			Key: "historyLimit", To: &a.HistoryLimit, Max: 1000, Hint: config.Hint{Default: "`messages.groupChat.historyLimit`"},
			Help: "how many messages of a group that were not meant for the assistant it may read; `0`: none",
		},
		config.Choice{
			Key: "reactionNotifications", To: &a.Reactions, Among: []string{"off", "own", "all", "allowlist"},
			Hint: config.Hint{Default: "`own`"},
			Help: "of which emoji that people put on messages the assistant is told, with the next message: `off`, `own` (on its own messages), " +
				"`all`, `allowlist` (of those in `reactionAllowlist`). None makes it answer",
		},
		config.Texts{
			Key: "reactionAllowlist", To: &a.ReactionFrom, Read: sender, Hint: config.Hint{Default: "`[]`"},
			Help: "ids of people whose emoji it is told of, with `reactionNotifications: \"allowlist\"`",
		},
	}
	if k.Groups != "" {
		out = append(out, config.Alias(k.Groups, groups))
	}
	if k.Directs != "" {
		out = append(out, config.Alias(k.Directs, config.Object{Key: k.Directs, Fields: []config.Field{
			config.Choice{Key: "policy", To: &a.DMPolicy, Among: []string{"pairing", "allowlist", "open", "disabled"}, Read: dmPolicy},
			config.Texts{Key: "allowFrom", To: &a.AllowFrom, Read: sender},
			config.Later("enabled", "historyLimit"),
		}}))
	}
	return out
}

func dmPolicy(v config.Value) string {
	s := v.Choice("pairing", "allowlist", "open", "disabled")
	if s == "open" {
		v.Warn("with \"open\" anybody who finds the bot can use the assistant; \"pairing\" asks you first")
	}
	return s
}

func (g *GroupRules) fields() []config.Field {
	return append(g.shared(),
		config.Object{
			Key: "tools", Fields: g.Tools.Fields(), Hint: config.Hint{Like: true, Default: "all that groups may use"},
			Help: "the keys of `tools` for this group, such as `deny`: they take away from what groups may use, and add nothing",
		},
		config.Map[GroupRules]{
			Key: "topics", To: &g.Topics, Name: "<number>", New: func(string) GroupRules { return GroupRules{Enabled: true} },
			One: func(_ string, t *GroupRules) config.Field {
				return config.Object{Fields: append(t.shared(), config.Later("agentId"))}
			},
			Hint: config.Hint{Like: true, Default: "none"},
			Help: "the keys of a group, without `tools`, for one of its topics, by the topic's number (`\"1\"` is the general one); " +
				"what it does not say is the group's",
		},
		config.Later("ingest"),
	)
}

// shared are the keys of groups and of their topics.
func (g *GroupRules) shared() []config.Field {
	return []config.Field{
		config.Switch{Key: "enabled", To: &g.Enabled, Help: "`false` switches this group off"},
		config.Maybe{
			Key: "requireMention", To: &g.RequireMention, Hint: config.Hint{Default: "`true`"},
			Help: "answer only when named, answered or called with `/command@bot`. `\"*\"` as the id holds for all other groups",
		},
		config.Texts{
			Key: "allowFrom", To: &g.AllowFrom, Read: sender, Hint: config.Hint{Default: "as `groupAllowFrom`"},
			Help: "ids that may write in this group",
		},
		config.Alias("users", config.Texts{Key: "users", To: &g.AllowFrom, Read: sender}),
		config.Text{
			Key: "systemPrompt", To: &g.SystemPrompt, Max: 16 << 10, Lines: true, Hint: config.Hint{Default: "none"},
			Help: "what the assistant is told in this group, beside what it is told everywhere",
		},
		config.Texts{
			Key: "skills", To: &g.Skills, Max: 128, Hint: config.Hint{Default: "all"},
			Help: "names of the skills that may be called in this group; `[]`: none",
		},
		config.Later("groupPolicy"),
	}
}

// streaming are the keys about what is seen of an answer while it is written.
func (a *Configured) streaming() []config.Field {
	s := &a.Streaming
	return []config.Field{
		config.Object{
			Key: "streaming", Short: func(v config.Value) bool { return s.short(v) },
			Fields: []config.Field{
				config.Choice{
					Key: "mode", To: &s.Mode, Among: streamModes(), Read: streamMode,
					Hint: config.Hint{Default: "`\"partial\"`, or [the network's own](channels/README.md)"},
					Help: "what you see of an answer while it is written: `off`, `partial`, `block`, `progress`. A word alone, `true` and `false` " +
						"as `streaming`, and `streamMode`, are older forms",
				},
				config.Object{Key: "preview", Fields: append(s.Preview.fields("in the preview"),
					config.Alias("chunk", a.DraftChunk.Field("chunk", "", config.Hint{})))},
				config.Object{Key: "progress", Fields: s.Progress.fields("in the mode `progress`")},
				config.Alias("block", config.Object{Key: "block", Fields: []config.Field{
					config.Maybe{Key: "enabled", To: &a.BlockStreaming},
					a.Merged.Field("coalesce", "", config.Hint{}),
				}}),
				config.Alias("chunkMode", a.chunkMode()),
				config.Later("nativeTransport"),
			},
		},
		config.Alias("streamMode", config.Any{Key: "streamMode", Read: func(v config.Value) {
			if m := streamMode(v); m != "" {
				s.Mode = m
			}
			v.Warn("this is now called streaming: { mode: … }; the old name still works")
		}}),
		config.Maybe{
			Key: "blockStreaming", To: &a.BlockStreaming, Hint: config.Hint{Default: "off"},
			Help: "`true` sends finished blocks as messages of their own instead of a preview; `streaming.block.enabled` says the same",
		},
		a.DraftChunk.Field("draftChunk", "`minChars`, `maxChars`, `breakPreference`: the steps of a preview with `streaming.mode: \"block\"`; "+
			"also `streaming.preview.chunk`", config.Hint{Default: "200 to 800"}),
		a.Merged.Field("blockStreamingCoalesce", "`minChars`, `maxChars`, `idleMs`", config.Hint{Default: "as `agents.defaults`"}),
	}
}

func streamModes() []string { return []string{"off", "partial", "block", "progress"} }

// short reads the mode alone, or true and false, as older files have it.
func (s *Streaming) short(v config.Value) bool {
	if m := streamMode(v); m != "" {
		s.Mode = m
	}
	return true
}

func streamMode(v config.Value) string {
	if v.IsSwitch() {
		if v.Switch() {
			return "partial"
		}
		return "off"
	}
	return v.Choice(streamModes()...)
}

func (p *ProgressLines) fields(where string) []config.Field {
	return []config.Field{
		config.Switch{Key: "toolProgress", To: &p.ToolProgress, Help: "show tools at work " + where},
		config.Choice{
			Key: "commandText", To: &p.CommandText, Among: []string{"raw", "status"}, Help: "`status` hides the text of commands " + where,
		},
		config.Later("label", "labels", "maxLines", "render"),
	}
}

func (a *Configured) chunkMode() config.Field {
	return config.Choice{
		Key: "chunkMode", To: &a.ChunkMode, Among: []string{"length", "newline"}, Help: "`newline` cuts at empty lines first",
	}
}

// text are the keys about the messages themselves.
func (a *Configured) text(k channel.Kind) []config.Field {
	files := "largest file that is taken or sent, in MiB. "
	if k.MaxFileWhy != "" {
		files += k.MaxFileWhy + ". "
	}
	return []config.Field{
		config.Number{
			Key: "textChunkLimit", To: &a.TextChunkLimit, Min: 1, Max: 100_000, Hint: config.Hint{Default: "the network's"},
			Help: "longest message, as the network counts",
		},
		a.chunkMode(),
		config.Choice{
			Key: "replyToMode", To: &a.ReplyToMode, Among: []string{"off", "first", "all"},
			Help: "which messages of an answer quote the question: `off`, `first`, `all`",
		},
		config.Any{
			Key: "responsePrefix", Help: "text before every answer", Hint: config.Hint{Default: "`messages.responsePrefix`"},
			Like: config.Text{To: new(string), Max: 64},
			Read: func(v config.Value) { a.ResponsePrefix = new(v.AnyText(64)) },
			Show: func() (any, bool) { return a.ResponsePrefix, a.ResponsePrefix != nil },
		},
		config.Number{
			Key: "mediaMaxMb", To: &a.MediaMaxMB, Min: 1, Max: 2000,
			Help: files + "Your files are kept in `inbox/` of the workspace, those of other people in the folder `guests` of Hearth's own " +
				"folder, at most 2 GB each",
		},
	}
}

// renames are the older forms of streaming.mode, of the network and its accounts.
func renames(in config.Places, at config.Path) (out []config.Rename) {
	out = renamesOf(in, at)
	for _, account := range in.Keys(at.Below("accounts")) {
		out = append(out, renamesOf(in, at.Below("accounts", account))...)
	}
	return out
}

func renamesOf(in config.Places, at config.Path) (out []config.Rename) {
	old, whole, mode := at.Below("streamMode"), at.Below("streaming"), at.Below("streaming", "mode")
	streaming, set := in.Value(whole)
	if set && !streaming.IsObject() {
		v := streamMode(streaming)
		if v == "" {
			return nil // it is told of as a mistake
		}
		out = append(out, config.Rename{Says: fmt.Sprintf("%s: %q is %s", whole, v, mode), New: whole, Value: fmt.Sprintf("{ mode: %q }", v)})
	}
	value, ok := in.Value(old)
	if !ok {
		return out
	}
	v := streamMode(value)
	if v == "" {
		return out
	}
	r := config.Rename{Says: fmt.Sprintf("%s is %s", old, mode), Old: old}
	if !in.Has(mode) && (!set || streaming.IsObject()) {
		r.New, r.Value = mode, fmt.Sprintf("%q", v)
	}
	return append(out, r)
}

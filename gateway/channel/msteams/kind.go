// Package msteams describes Microsoft Teams to the gateway: its settings, limits and
// groups. The client itself is in package client, which only the program
// hearth-channels links.
package msteams

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
)

// ID is the network's name in keys, routes and settings.
const ID = "msteams"

// Keys of an account.
const (
	KeyApp      = "appId"
	KeyPassword = "appPassword"
	KeyTenant   = "tenantId"
	KeyStyle    = "replyStyle"
	KeyHosts    = "mediaAllowHosts"
	KeyRoot     = "apiRoot"
	KeySite     = "sharePointSiteId"
)

// Styles of an answer in a channel of a team.
const (
	InThread = "thread"
	TopLevel = "top-level"
)

// MostPicture is how many bytes a picture has that is sent inside a message.
const MostPicture = 1 << 20

// MostFile is how many bytes any other file has that is sent. On its way it is in memory.
const MostFile = 100 << 20

// Limits of a message. Microsoft advises an edit a second at most, and takes 1,800
// requests an hour in a conversation.
var Limits = channel.Limits{
	Text: 4000, Unit: channel.UTF16, Caption: 4000, Dialect: channel.HTML, EditPace: 1500 * time.Millisecond, Typing: 8 * time.Second,
	Files: MostFile, Threads: true, Heard: true, Choices: 20,
}

// PersonSign begins the id of a conversation with one person, before Microsoft's own.
const PersonSign = "@"

// manifest is what Teams makes an app of, beside two pictures.
// docs/channels/msteams-manifest.json is the same, for people.
//
//go:embed manifest.json
var manifest string

// Pictures of the app: in colour, and as a white line.
var (
	//go:embed color.png
	colour []byte
	//go:embed outline.png
	outline []byte
)

// pack makes the archive that Teams takes.
func pack(text string) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range []struct {
		name string
		data []byte
	}{{"manifest.json", []byte(text)}, {"color.png", colour}, {"outline.png", outline}} {
		w, err := z.Create(f.name)
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.name, err)
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("pack the app: %w", err)
	}
	return b.Bytes(), nil
}

// Kind describes Microsoft Teams.
func Kind() channel.Kind {
	return channel.Kind{
		ID: ID, Label: "Microsoft Teams", Connects: KeyApp, Called: true,
		CalledAs: "In the Azure portal it is the Messaging endpoint of the Azure Bot (Settings, Configuration).",
		Settings: settings(),
		Later: []string{"webhook", "teams", "requireMention", "mediaAuthAllowHosts", "dmHistoryLimit", "dms", "authType",
			"certificatePath", "certificateThumbprint", "useManagedIdentity", "managedIdentityClientId", "sso", "delegatedAuth", "feedbackEnabled",
			"feedbackReflection", "feedbackReflectionCooldownMs", "welcomeCard", "groupWelcomeCard", "promptStarters", "typingIndicator",
			"actions", "capabilities", "dangerouslyAllowNameMatching", "healthMonitor", "heartbeat", "defaultTo", "defaultAccount", "name",
			"markdown", "configWrites"},
		LaterAccount: []string{"webhook", "teams", "requireMention", "name"},
		SetUp: []string{
			"Open https://portal.azure.com/#create/Microsoft.AzureBot and make an Azure Bot: Type of App “Single Tenant”, “Create new Microsoft " +
				"App ID”, pricing tier Free.",
			"In the bot's Configuration, copy the Microsoft App ID and the App Tenant ID.",
			"There, choose “Manage Password”, “New client secret”, and copy its Value (not its Secret ID), which is shown once.",
			"In the bot's Channels, add Microsoft Teams.",
			"Open https://dev.teams.microsoft.com/apps, choose “New app”, and fill in what is asked for.",
			"There, below App features, choose Bot, enter the App ID, and tick Personal, Team and Group Chat. (Or choose “Import app” with the " +
				"archive that `hearth channels manifest msteams --with appId=… --zip teams.zip` writes.)",
			"Choose “Preview in Teams”, or “Publish” for everybody in the organisation, and add the app."},
		First:    "In Teams, open the app from Apps, and write “hi” in its chat.",
		Manifest: channel.Manifest{Name: "msteams-manifest.json", Text: manifest, Fill: map[string]string{"APP_ID": KeyApp}, Pack: pack},
		MaxFile:  100, MaxFileWhy: "In group chats and channels an app sends pictures of up to 1, and other files with `sharePointSiteId`",
		New:     open,
		IsGroup: func(conversation string) bool { return !strings.HasPrefix(conversation, PersonSign) },
		Address: channel.Addressed(PersonSign, "conversation:"),
	}
}

func settings() []channel.Setting {
	return []channel.Setting{
		{Key: KeyApp, Form: channel.Words, Valid: IsGUID, Help: "expected the Microsoft App ID of the Azure Bot, like " + sample,
			About: "the Microsoft App ID of the Azure Bot", Alone: "both would answer the same messages"},
		{Key: KeyPassword, Form: channel.SecretText, Needed: true, Valid: IsPassword, File: "appPasswordFile",
			Help:  "expected the Value of a client secret. The Secret ID, which stands beside it and looks like " + sample + ", is none",
			About: "the Value of a client secret of the App ID"},
		{Key: KeyTenant, Form: channel.Words, Valid: IsGUID, Help: "expected the App Tenant ID of the Azure Bot, like " + sample,
			About: "the App Tenant ID of the Azure Bot, when its type is Single Tenant: messages of other organisations are left out then",
			Unset: "none: the bot is Multi Tenant"},
		{Key: KeyStyle, Form: channel.Words, Shared: true, Valid: func(s string) bool { return s == InThread || s == TopLevel },
			Help: "expected thread or top-level",
			About: "in channels of teams: `thread` answers below the post, and each post is a conversation of its own; `top-level` makes a new " +
				"post, and the channel is one conversation", Unset: "`thread`"},
		{Key: KeyHosts, Form: channel.WordList, Shared: true, Valid: IsHost,
			Help: "expected names of hosts, like files.example.org, or *",
			About: "hosts from which files are fetched; those below them are meant too, and `*` is every public one. The bot's token goes to " +
				"Microsoft's own alone", Unset: "those of Teams, SharePoint and OneDrive"},
		{Key: KeySite, Form: channel.Words, Shared: true, Rare: true, Valid: IsSite,
			Help: "expected the id of a site, like contoso.sharepoint.com," + sample + "," + sample,
			About: "the site of SharePoint through which files go into group chats and channels, and those of people come in. It needs " +
				"`tenantId`, and the right `Sites.ReadWrite.All`, which an administrator grants", Unset: "none: only pictures are sent there"},
		{Key: KeyRoot, Form: channel.WebAddress, Shared: true, Unset: "Microsoft itself", About: "a proxy of your own that hands on what is " +
			"below `/login.microsoftonline.com`, `/login.botframework.com`, `/graph.microsoft.com`, and each host of Teams and SharePoint. It " +
			"sees the secret and all messages, and whom it lets in is let in"},
	}
}

const sample = "11111111-2222-3333-4444-555555555555"

// open makes the channel of an account.
func open(a channel.Account) (channel.Channel, error) {
	if err := Check(a); err != nil {
		return nil, err
	}
	return program.Bundled(ID, a, Limits, channel.CanEdit, channel.CanDelete, channel.CanType, channel.CanFetch, channel.CanChoose,
		channel.CanBeCalled)
}

// Check says what is wrong with an account.
func Check(a channel.Account) error {
	app, secret, tenant, site := a.Texts[KeyApp], a.Secrets[KeyPassword], a.Texts[KeyTenant], a.Texts[KeySite]
	switch {
	case app == "":
		return errors.New("channels.msteams.appId is missing: set it to the Microsoft App ID of the Azure Bot")
	case !IsGUID(app):
		return errors.New("channels.msteams.appId is no Microsoft App ID: it looks like " + sample)
	case secret == "":
		return errors.New("the client secret is missing: hearth config set channels.msteams.appPassword asks for it")
	case IsGUID(secret):
		return errors.New("channels.msteams.appPassword is the Secret ID. Its Value is needed, which Azure shows once: make a new client secret")
	case !IsPassword(secret):
		return errors.New("channels.msteams.appPassword is no client secret: it has 8 to 256 characters and no spaces")
	case tenant != "" && !IsGUID(tenant):
		return errors.New("channels.msteams.tenantId is no App Tenant ID: it looks like " + sample)
	case site != "" && !IsSite(site):
		return errors.New("channels.msteams.sharePointSiteId is no site: it looks like contoso.sharepoint.com," + sample + "," + sample)
	case site != "" && tenant == "":
		return errors.New("channels.msteams.sharePointSiteId needs channels.msteams.tenantId: without an organisation there is no SharePoint")
	}
	return nil
}

// IsGUID reports whether a text has the form of the ids of Azure.
func IsGUID(s string) bool {
	parts := strings.Split(s, "-")
	if len(s) != len(sample) || len(parts) != 5 {
		return false
	}
	for i, n := range []int{8, 4, 4, 4, 12} {
		if len(parts[i]) != n || strings.Trim(parts[i], "0123456789abcdefABCDEF") != "" {
			return false
		}
	}
	return true
}

// IsPassword reports whether a text can be a client secret.
func IsPassword(s string) bool {
	return len(s) >= 8 && len(s) <= 256 && !strings.ContainsAny(s, " \t\r\n") && !IsGUID(s)
}

// IsHost reports whether a text is the name of a host, or “*” for all.
func IsHost(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-."
	return s == "*" || strings.Contains(s, ".") && len(s) < 254 && strings.Trim(s, letters) == "" && strings.Trim(s, ".") == s
}

// IsSite reports whether a text has the form of the id of a site: its host, and the ids of
// the collection of sites and of the site.
func IsSite(s string) bool {
	parts := strings.Split(s, ",")
	return len(parts) == 3 && parts[0] != "*" && IsHost(parts[0]) && !strings.Contains(s, "..") && IsGUID(parts[1]) && IsGUID(parts[2])
}

const ids = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:=+@"

// IsConversation reports whether a text has the form of a conversation's id, without
// the thread.
func IsConversation(s string) bool { return isID(s) && len(s) > 2 && !strings.HasPrefix(s, PersonSign) }

// IsActivity reports whether a text has the form of the id of a message.
func IsActivity(s string) bool { return isID(s) }

// IsPerson reports whether a text has the form of somebody's id.
func IsPerson(s string) bool { return isID(s) }

func isID(s string) bool {
	return s != "" && len(s) <= 300 && strings.Trim(s, ids) == "" && strings.Trim(s, ".") != "" && !strings.Contains(s, "..")
}

package hub

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
)

// MenuRules are what the settings say of the commands in a network's menu: "auto", "true"
// and "false", as their keys are written; "" is not said.
type MenuRules struct{ Native, NativeSkills string }

// MenusSection is what holds for all networks.
var MenusSection = &config.Settings[MenuRules]{
	Path: "commands", Name: "menus",
	Default: MenuRules{Native: "auto", NativeSkills: "auto"},
	Fields:  func(m *MenuRules) []config.Field { return m.fields("`\"auto\"`", "`\"auto\"`") },
}

func (m *MenuRules) fields(native, skills string) []config.Field {
	words := []string{"auto", "true", "false"}
	return []config.Field{
		config.Choice{
			Key: "native", To: &m.Native, Among: words, Read: menuWord, Hint: config.Hint{Default: native},
			Help: "whether Hearth's commands stand in the menus of networks: `\"auto\"` and `true` where a network has one that it fills " +
				"(docs/channels names them), `false` nowhere. What Hearth put there is taken away again. Typed, they work all the same",
		},
		config.Choice{
			Key: "nativeSkills", To: &m.NativeSkills, Among: words, Read: menuWord, Hint: config.Hint{Default: skills},
			Help: "the same for the skills that a slash calls; `\"auto\"`: where Hearth's commands are",
		},
	}
}

// menuWord reads true and false as the words that they are kept as.
func menuWord(v config.Value) string {
	if v.IsSwitch() {
		return fmt.Sprint(v.Switch())
	}
	return v.Choice("auto", "true", "false")
}

// AddedCommand is one that a person put into the menu: it is text for the assistant.
type AddedCommand struct{ Name, Description string }

// menu are the keys about an account's menu.
func (a *Configured) menu(k channel.Kind) (out []config.Field) {
	if !k.Menu.Registered {
		return nil
	}
	out = append(out, config.Object{
		Key: "commands", Fields: a.Menu.fields("`commands.native`", "`commands.nativeSkills`"), Hint: config.Hint{Like: true,
			Default: "as `commands`"},
		Help: "`native` and `nativeSkills` as in [`commands`](#channels), for this network or account alone",
	})
	if k.Menu.Added {
		out = append(out, a.addedCommands())
	}
	return out
}

func (a *Configured) addedCommands() config.Field {
	return config.List[AddedCommand]{
		Key: "customCommands", To: &a.Added, Hint: config.Hint{Like: true, Default: "`[]`"},
		Help: "more for the menu: `{ command, description }` each. They are text that the assistant gets. A name has 1 to 32 of a-z, 0-9 " +
			"and `_`; what is a command already is left out, and `hearth doctor` says so",
		Take: func(c AddedCommand) error {
			if c.Name == "" || c.Description == "" {
				return errors.New("an entry has a command and a description")
			}
			return nil
		},
		One: func(c *AddedCommand) config.Field {
			return config.Object{Fields: []config.Field{
				config.Text{Key: "command", To: &c.Name, Max: 64, Is: addedName, Help: "its name"},
				config.Text{Key: "description", To: &c.Description, Max: 256, Help: "what stands beside it"},
			}}
		},
	}
}

// addedName writes a command as menus have it.
func addedName(s string) (string, error) {
	name := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(strings.TrimSpace(s), "/")), "-", "_")
	if len(name) < 1 || len(name) > 32 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return "", errors.New("the name of a command has 1 to 32 of a-z, 0-9 and _")
	}
	return name, nil
}

// ShownMenu is what an account shows of commands.
type ShownMenu struct {
	Native, Skills bool // Hearth's commands, and those of skills
	Yours          []AddedCommand
	channel.MenuTraits
}

// Menu is what an account is to show.
func (h *Hub) Menu(network, account string) ShownMenu {
	k, _ := h.Kinds.Get(network)
	if !k.Menu.Registered {
		return ShownMenu{Native: true, MenuTraits: k.Menu} // it reads by the list what is a command
	}
	all, a := MenusSection.Of(h.Settings.Snapshot().Config), h.Account(network, account)
	out := ShownMenu{Native: cmp.Or(a.Menu.Native, all.Native) != "false", Yours: slices.Clone(a.Added), MenuTraits: k.Menu}
	switch cmp.Or(a.Menu.NativeSkills, all.NativeSkills) {
	case "true":
		out.Skills = true
	case "auto":
		out.Skills = out.Native
	}
	return out
}

// Package menu is the slash commands as networks show them in menus, with what each does
// in the languages of the page. It owns these words; which commands there are is package
// command's, and what a network makes of the list its channel's.
package menu

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/skill"
)

// Wanted is what a menu is made of.
type Wanted struct {
	Own    []command.Command // Hearth's
	Skills []skill.Command
	Added  []channel.Command // of the person's own
	Most   int               // that the network shows; 0: any number
	// Dashless: it shows no names with a dash.
	Dashless bool
}

// Of are the commands for a menu: Hearth's, the person's own, then those of skills. left
// says what does not stand in it, and why.
func (w Wanted) Of() (out []channel.Command, left []string) {
	out, taken := own(w.Own), map[string]bool{}
	for _, c := range w.Own {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			taken[strings.ReplaceAll(name, "-", "_")] = true
		}
	}
	var skills []channel.Command
	for _, s := range w.Skills {
		if taken[s.Name] {
			continue
		}
		taken[s.Name] = true
		about := cmp.Or(first(s.Skill.Description), s.Skill.Name)
		skills = append(skills, channel.Command{Name: s.Name, Description: about, Args: "<input>"})
	}
	for _, c := range w.Added {
		if taken[c.Name] {
			left = append(left, "/"+c.Name+" of customCommands is a command already")
			continue
		}
		taken[c.Name] = true
		out = append(out, c)
	}
	out = append(out, skills...)
	if w.Dashless {
		out = slices.DeleteFunc(out, func(c channel.Command) bool { return strings.Contains(c.Name, "-") })
	}
	if w.Most > 0 && len(out) > w.Most {
		var names []string
		for _, c := range out[w.Most:] {
			names = append(names, "/"+c.Name)
		}
		out = out[:w.Most]
		left = append(left, fmt.Sprintf("the network shows %d commands, so these can only be typed: %s", w.Most, several(names)))
	}
	return out, left
}

// mostNamed is how many are told by their names.
const mostNamed = 10

func several(names []string) string {
	if more := len(names) - mostNamed; more > 0 {
		return strings.Join(names[:mostNamed], " ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, " ")
}

func own(all []command.Command) (out []channel.Command) {
	words := local()
	for _, c := range all {
		m := channel.Command{Name: c.Name, Description: first(c.Description), Args: c.Args}
		if w, ok := words[c.Name]; ok {
			m.Local = map[string]string{"de": w[0], "zh": w[1]}
		}
		out = append(out, m)
	}
	return out
}

// first is the first sentence of a description: a menu has one line.
func first(s string) string {
	s, _, _ = strings.Cut(s, ". ")
	return strings.TrimSpace(s)
}

// Same reports whether two menus are.
func Same(a, b []channel.Command) bool {
	return slices.EqualFunc(a, b, func(x, y channel.Command) bool {
		return x.Name == y.Name && x.Description == y.Description && x.Args == y.Args && len(x.Local) == len(y.Local)
	})
}

// local are the descriptions in German and Chinese.
func local() map[string][2]string {
	return map[string][2]string{
		"help":      {"Zeigt die Befehle", "列出命令"},
		"whoami":    {"Zeigt, wer du für Hearth bist", "显示 Hearth 眼中的你"},
		"why":       {"Erklärt die letzte Antwort: Regel, Modell und Kosten", "解释上一个回答:规则、模型和费用"},
		"stop":      {"Beendet die Antwort und was dahinter wartet", "停止回答和排队的消息"},
		"queue":     {"Was mit Nachrichten während einer Antwort geschieht", "回答期间收到的消息如何处理"},
		"status":    {"Zeigt Modell, Sitzung und was gerade läuft", "显示模型、会话和正在运行的内容"},
		"context":   {"Zeigt, was das Modell bekommt", "显示提供给模型的内容"},
		"new":       {"Beginnt eine neue Sitzung", "开始新会话"},
		"reset":     {"Beginnt eine neue Sitzung", "开始新会话"},
		"compact":   {"Fasst den älteren Teil des Gesprächs zusammen", "总结较早的对话"},
		"think":     {"Wie lange das Modell nachdenkt", "模型思考的深度"},
		"verbose":   {"Zeigt, was Werkzeuge tun", "显示工具活动"},
		"reasoning": {"Zeigt die Überlegungen des Modells", "显示模型的推理"},
		"send":      {"Erlaubt Antworten in diesem Chat oder hält sie zurück", "允许或暂停向此聊天发送回答"},
		"model":     {"Zeigt oder wählt das Modell der Sitzung", "查看或选择此会话的模型"},
		"usage":     {"Zeigt Verbrauch und Kosten, oder erlaubt mehr", "显示用量和费用,或允许更多"},
		"approve":   {"Entscheidet über etwas, das auf dein Ja wartet", "决定等待你同意的事项"},
		"pause":     {"Hält Hearth an", "暂停 Hearth 的操作"},
		"resume":    {"Beendet die Pause", "结束暂停"},
		"tasks":     {"Zeigt Arbeit im Hintergrund, beendet oder wiederholt sie", "查看、结束或重做后台任务"},
		"remind":    {"Erinnert dich: /remind am Freitag um neun Mama anrufen", "提醒你:/remind 周五九点给妈妈打电话"},
		"loop":      {"Fragt den Assistenten immer wieder dasselbe", "反复向助手提同一个问题"},
		"cron":      {"Zeigt und ändert, was geplant ist", "查看和更改计划"},
	}
}

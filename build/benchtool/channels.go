package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/discord"
	"github.com/hearth-assistant/hearth/gateway/channel/discord/discordtest"
	"github.com/hearth-assistant/hearth/gateway/channel/mattermost"
	"github.com/hearth-assistant/hearth/gateway/channel/mattermost/mattermosttest"
	"github.com/hearth-assistant/hearth/gateway/channel/program/wire"
	"github.com/hearth-assistant/hearth/gateway/channel/slack"
	"github.com/hearth-assistant/hearth/gateway/channel/slack/slacktest"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip/zuliptest"
)

// accountIdle is how long an account has done nothing when its memory is read.
const accountIdle = 3 * time.Second

// lab is an account on a strict server of ours, and somebody who writes to it.
type lab struct {
	network        string
	texts, secrets map[string]string
	say, close     func()
}

// labs are the networks whose servers can be asked from here. Those that call the
// gateway have no connection of their own and hold less.
func labs() []lab {
	type m = map[string]string
	const (
		discordToken = "MTA0NzE1Mzk4NzIyMzEyODExMA.abcdef.abcdefghijklmnopqrstuvwxyz0123456789AB"
		slackBot     = "xoxb-1234567890-abcdefghijklmno"
		slackApp     = "xapp-1-A0000000-1234567890-abcdef"
	)
	key26, key32 := strings.Repeat("ab", 13), strings.Repeat("a1", 16)
	d := discordtest.New(discordToken)
	dAda := d.AddUser("ada", false)
	dTown := d.Direct(dAda)
	s := slacktest.New(slackBot, slackApp, slack.Scopes())
	sAda := s.AddUser("ada", false)
	mm := mattermosttest.New(key26)
	mAda := mm.AddUser("ada", false)
	z := zuliptest.New(key32)
	zAda := z.AddUser("Ada", false)
	return []lab{
		{network: discord.ID, secrets: m{discord.KeyToken: discordToken}, texts: m{discord.KeyRoot: d.URL() + "/"}, close: d.Close,
			say: func() { d.Say(dAda, dTown, "hello", nil) }},
		{network: slack.ID, secrets: m{slack.KeyBot: slackBot, slack.KeyApp: slackApp}, texts: m{slack.KeyRoot: s.URL() + "/"}, close: s.Close,
			say: func() { s.Say(sAda, s.Direct(sAda), "hello", nil) }},
		{network: mattermost.ID, secrets: m{mattermost.KeyToken: key26}, texts: m{mattermost.KeyBase: mm.URL() + "/"}, close: mm.Close,
			say: func() { mm.Say(mAda, mm.Direct(mAda), "hello", nil) }},
		{network: zulip.ID, secrets: m{zulip.KeyAPIKey: key32}, texts: m{zulip.KeySite: z.URL() + "/", zulip.KeyEmail: zuliptest.Email},
			close: z.Close, say: func() { z.Say(zAda, zuliptest.Place{People: []zuliptest.User{zAda}}, "hello", nil) }},
	}
}

// measureChannels connects one account of each network in a process of its own, lets one
// message come, and reads what the process keeps for itself.
func measureChannels(ctx context.Context, b *bench) ([]figure, error) {
	var out []figure
	for _, l := range labs() {
		private, err := l.memory(ctx, b)
		out = append(out, figure{name: "an idle account on " + l.network, measured: private, budget: 12, unit: "MB", err: err,
			note: "RssAnon of hearth-channels, connected and after one message"})
		l.close()
	}
	return out, nil
}

// memory is what the process of an account has for itself, in MB.
func (l lab) memory(ctx context.Context, b *bench) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	folder, err := os.MkdirTemp("", "hearth-bench-channel")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(b.hearth), "hearth-channels"), l.network)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	outPipe, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() { _ = in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if err := l.talk(in, outPipe, folder); err != nil {
		return 0, err
	}
	go func() { _, _ = io.Copy(io.Discard, outPipe) }()
	select {
	case <-time.After(accountIdle):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("memory is measured on Linux only: %w", err)
	}
	return inStatus(status, "RssAnon:")
}

// talk is the gateway's side until the account is connected and a message was taken.
func (l lab) talk(in io.Writer, from io.Reader, folder string) error {
	ask := func(id int, method string, params any) error {
		line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		if err != nil {
			return err
		}
		_, err = in.Write(append(line, '\n'))
		return err
	}
	first := wire.InitializeParams{Protocol: wire.Version, Channel: l.network, Account: "default", Settings: l.texts, Secrets: l.secrets,
		MaxFile: 1 << 20, Folder: folder}
	if err := errors.Join(ask(1, wire.Initialize, first), ask(2, wire.Start, struct{}{})); err != nil {
		return err
	}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return err
		}
		var st wire.StatusParams
		switch {
		case m.Method == wire.Status && json.Unmarshal(m.Params, &st) == nil && st.State == "receiving":
			l.say()
		case m.Method == wire.Stopped:
			return fmt.Errorf("it cannot go on: %s", m.Params)
		case m.Method != "" && len(m.ID) > 0:
			answer := fmt.Sprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"key\":\"\",\"blob\":\"\"}}\n", m.ID)
			if _, err := io.WriteString(in, answer); err != nil {
				return err
			}
			if m.Method == wire.Inbound {
				return nil
			}
		}
	}
	return errors.Join(errors.New("it ended before a message came"), lines.Err())
}

package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// ask takes a person through the steps that are open, one question at a time.
func (w *wizard) ask(ctx context.Context, s protocol.Setup) error {
	in := bufio.NewReader(w.a.input())
	if err := w.a.errs().print(w.a.folded("", "Enter takes what is offered, or leaves a step out. Ctrl-C stops, and `hearth setup` goes on "+
		"from there."), "\n\n"); err != nil {
		return err
	}
	steps := map[string]func(context.Context, *bufio.Reader, protocol.Setup) error{
		"model": w.askModel, "name": w.askName, "phone": w.askPhone, "telegram": w.askTelegram, "leave": w.askLeave,
	}
	for _, st := range s.Steps {
		if st.State != "open" && st.State != "again" || steps[st.ID] == nil {
			continue
		}
		if err := steps[st.ID](ctx, in, s); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return errInterrupted
		}
	}
	return nil
}

// question asks for a line; the end of the input is an empty one.
func (w *wizard) question(in *bufio.Reader, words string) (string, error) {
	if err := w.a.errs().print(words); err != nil {
		return "", err
	}
	s, err := in.ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.TrimSpace(s), err
}

func (w *wizard) simply(ctx context.Context, step, do string) error {
	return w.c.Call(ctx, protocol.MethodSetupAnswer, protocol.SetupAnswerParams{Step: step, Do: do}, nil)
}

// way is one answer to what should answer.
type way struct {
	words string
	take  func() error
}

// askModel asks until something answers, or the person looks around.
func (w *wizard) askModel(ctx context.Context, in *bufio.Reader, s protocol.Setup) error {
	for {
		ways := w.ways(ctx, in, s)
		if err := w.a.errs().print(bold("What should answer you?"), "\n"); err != nil {
			return err
		}
		for i, x := range ways {
			if err := w.a.errs().print(w.a.folded(fmt.Sprintf("  %d  ", i+1), line(x.words)), "\n"); err != nil {
				return err
			}
		}
		usual := 1
		if len(s.Choices) == 0 && !s.Ollama {
			usual = len(ways) // nothing is here: looking around needs nothing
		}
		word, err := w.question(in, fmt.Sprintf("Number (Enter: %d): ", usual))
		if err != nil {
			return err
		}
		n, nerr := strconv.Atoi(word)
		if word == "" {
			n, nerr = usual, nil
		}
		if nerr != nil || n < 1 || n > len(ways) {
			if err := w.a.errs().print("Type a number from 1 to ", strconv.Itoa(len(ways)), ".\n"); err != nil {
				return err
			}
			if word == "" || ctx.Err() != nil {
				return nil
			}
			continue
		}
		err = ways[n-1].take()
		if err == nil || ctx.Err() != nil {
			return err
		}
		f := explain(err)
		if err := w.a.errs().print(red("✗"), w.a.folded("  ", line(f.message))[1:], "\n\n"); err != nil {
			return err
		}
		if err := w.c.Call(ctx, protocol.MethodSetupGet, protocol.SetupGetParams{Look: true}, &s); err != nil {
			return err
		}
		if word == "" {
			return nil // nobody is there to choose another one
		}
	}
}

// ways are what can be chosen now, the best first.
func (w *wizard) ways(ctx context.Context, in *bufio.Reader, s protocol.Setup) (out []way) {
	model := func(p protocol.SetupAnswerParams) func() error {
		p.Step = "model"
		return func() error { return w.answer(ctx, p) }
	}
	for i, c := range s.Choices {
		if i == 6 {
			break
		}
		words := map[string]string{"local": c.Name + ", already on this computer (" + c.Service + ")", "login": "your login of " + c.Name,
			"key": c.Name + ", with the key in the environment"}[c.Kind]
		if c.Caution != "" {
			words += " (" + strings.TrimSuffix(c.Caution, ".") + ")"
		}
		out = append(out, way{words, model(protocol.SetupAnswerParams{Do: "use", Choice: c.ID})})
	}
	if d := s.Downloads[0]; s.Ollama {
		out = append(out, way{fmt.Sprintf("download %s (%s, about %s)", d.Name, size(d.Bytes),
			span(max(time.Minute, (time.Duration(d.Seconds)*time.Second).Round(time.Minute)))),
			model(protocol.SetupAnswerParams{Do: "download", Model: d.Model})})
	}
	for _, l := range s.SignIns {
		out = append(out, way{"sign in at " + l.Name, func() error { return loginAccount(ctx, w.a, l.ID) }})
	}
	key := func() error {
		if err := w.a.keepable(ctx, w.c); err != nil {
			return err
		}
		k, err := w.a.typed("Key (it is not shown): ")
		if err != nil {
			return fmt.Errorf("read the key: %w", err)
		}
		return model(protocol.SetupAnswerParams{Do: "key", Key: strings.TrimSpace(k)})()
	}
	out = append(out, way{"paste a key", key},
		way{"enter the address of a server", func() error { return w.askServer(ctx, in) }})
	if stepState(s, "model") == "again" {
		return append(out, way{"leave it as it is", func() error { return w.simply(ctx, "model", "done") }})
	}
	out = append(out, way{"look around first: the built-in guide answers, which is no AI model",
		func() error { return w.simply(ctx, "model", "skip") }})
	if !s.Ollama && len(s.Choices) == 0 {
		out[len(out)-1].words += ". To download a model, install Ollama (https://ollama.com/download) first"
	}
	return out
}

func (w *wizard) askName(ctx context.Context, in *bufio.Reader, _ protocol.Setup) error {
	name, err := w.question(in, "\nWhat should it be called? (Enter: later) ")
	if err != nil {
		return err
	}
	if name == "" {
		return w.simply(ctx, "name", "skip")
	}
	style, err := w.question(in, "And how should it sound, in a few words? (Enter: as it is) ")
	if err != nil {
		return err
	}
	return w.answer(ctx, protocol.SetupAnswerParams{Step: "name", Do: "save", Name: name, Style: style})
}

func yes(s string) bool {
	s = strings.ToLower(s)
	return s == "y" || s == "yes"
}

func (w *wizard) askPhone(ctx context.Context, in *bufio.Reader, _ protocol.Setup) error {
	word, err := w.question(in, "\nUse it from your phone? Devices on your local network can then reach Hearth, encrypted,\n"+
		"and only those that you pair; `hearth lan off` takes it back. [y/N] ")
	if err != nil {
		return err
	}
	if !yes(word) {
		return w.simply(ctx, "phone", "skip")
	}
	if err := switchLAN(ctx, w.a, "lan"); err != nil {
		return err
	}
	if err := runQR(ctx, w.a, qrOptions{}); err != nil {
		return err
	}
	return w.simply(ctx, "phone", "done")
}

// hiTime is how long a first message on Telegram is waited for.
const hiTime = 5 * time.Minute

func (w *wizard) askTelegram(ctx context.Context, in *bufio.Reader, _ protocol.Setup) error {
	word, err := w.question(in, "\nTalk to it on Telegram? You make a bot with https://t.me/BotFather (send it /newbot). [y/N] ")
	if err != nil {
		return err
	}
	if !yes(word) {
		return w.simply(ctx, "telegram", "skip")
	}
	const at = "channels.telegram.botToken"
	token, err := w.a.typed("The bot's token (it is not shown): ")
	if err != nil {
		return fmt.Errorf("read the token: %w", err)
	}
	if err := w.c.Call(ctx, protocol.MethodSecretsSet, protocol.SecretSetParams{Name: at, Value: strings.TrimSpace(token)}, nil); err != nil {
		return err
	}
	raw, err := json.Marshal(map[string]any{"channels": map[string]any{"telegram": map[string]any{"botToken": "keychain:" + at}}})
	if err != nil {
		return err
	}
	if err := w.a.patchSettings(ctx, w.c, string(raw)); err != nil {
		return err
	}
	if err := w.a.errs().print("Now send “hi” to your bot in Telegram.\n"); err != nil {
		return err
	}
	r, err := w.firstMessageOn(ctx, "telegram", "")
	if err != nil || r == nil {
		return err
	}
	word, err = w.question(in, line(person(r.Name, r.Handle))+" wrote. Is that you? Then this chat gets your commands and your "+
		"conversation. [y/N] ")
	if err != nil || !yes(word) {
		return err
	}
	if err := w.c.Call(ctx, protocol.MethodContactsResolve, protocol.ContactResolveParams{Channel: r.Channel, Code: r.Code,
		Decision: "approve", Owner: true}, nil); err != nil {
		return err
	}
	return w.simply(ctx, "telegram", "done")
}

// firstMessageOn waits for somebody on a network who asks to be let in, on an account
// or on any (""); nil: nobody came.
func (w *wizard) firstMessageOn(ctx context.Context, network, account string) (*protocol.ContactRequest, error) {
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	end := time.NewTimer(hiTime)
	defer end.Stop()
	for {
		var l protocol.ContactsList
		if err := w.c.Call(ctx, protocol.MethodContactsList, nil, &l); err != nil {
			return nil, err
		}
		for i := range l.Requests {
			if r := l.Requests[i]; r.Channel == network && (account == "" || r.Account == account) {
				return &l.Requests[i], nil
			}
		}
		select {
		case <-look.C:
		case <-end.C:
			return nil, w.a.errs().print("Nobody wrote. Later, `hearth contacts` shows who asks to be let in.\n")
		case <-ctx.Done():
			return nil, errInterrupted
		}
	}
}

func (w *wizard) askLeave(ctx context.Context, _ *bufio.Reader, s protocol.Setup) error {
	words := "\n" +
		"That's all. `hearth chat \"…\"` talks to it here, `hearth open` in the browser. Nothing runs, and nothing costs, until you ask.\n"
	if s.AtLogin == nil {
		words += "`hearth service install` starts it at login.\n"
	}
	if err := w.a.errs().print(words); err != nil {
		return err
	}
	return w.simply(ctx, "leave", "done")
}

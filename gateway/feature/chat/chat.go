// Package chat is the feature of talking to an assistant: the methods chat.*,
// agent and agent.wait, why an answer is as it is, the queue, pictures and
// other files of messages, the steps that an assistant shows of its work (update_plan), and the
// commands /help, /whoami, /why, /stop and /queue. Messages go
// by package dispatch; answers are made by package session.
package chat

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/attachment/handin"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/subagent"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/plan"
)

// Models lists the models that can be chosen.
type Models interface {
	List(ctx context.Context, p protocol.ModelsListParams) (protocol.ModelsList, error)
}

// Options are the parts that the feature needs; all of them.
type Options struct {
	Dispatch *dispatch.Dispatcher
	Sessions *session.Manager
	Agents   *agents.Directory
	Choice   *choice.Chooser
	Models   Models
	Children *subagent.Book // sub-agents
	Media    *media.Store
	Desk     *handin.Desk
}

type feature struct{ o Options }

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{o}
	return host.Feature{
		Methods: []method.Method{
			method.Deciding(protocol.MethodChatSend, f.send),
			method.Deciding(protocol.MethodChatAgain, f.again),
			method.Plain(protocol.MethodChatHistory, f.history),
			method.Plain(protocol.MethodChatStartup, f.history),
			method.Plain(protocol.MethodChatMetadata, f.metadata),
			method.Plain(protocol.MethodChatAbort, f.abort),
			method.Plain(protocol.MethodChatInject, f.inject),
			method.Deciding(protocol.MethodAgent, f.agent),
			method.Plain(protocol.MethodAgentWait, f.agentWait),
			method.Plain(protocol.MethodCommandsList, f.commandList),
			method.Plain(protocol.MethodWhy, f.why),
			method.Plain(protocol.MethodQueueEdit, f.editQueued),
			method.Plain(protocol.MethodMediaGet, f.picture),
			method.Plain(protocol.MethodUploadPut, o.Desk.Put),
			method.Plain(protocol.MethodUploadDrop, f.drop),
			method.Plain(protocol.MethodArtifactSave, o.Desk.Save),
			method.Called(protocol.MethodView, f.view),
		},
		Tools:    []tool.Tool{plan.Tool{}},
		Commands: f.commands(),
	}
}

func (f *feature) history(ctx context.Context, p protocol.ChatHistoryParams) (protocol.ChatHistory, error) {
	key, err := f.o.Agents.Canonical(p.SessionKey, p.AgentID)
	if err != nil {
		return protocol.ChatHistory{}, err
	}
	return f.o.Sessions.History(ctx, key, p)
}

func (f *feature) metadata(ctx context.Context, p protocol.ChatMetadataParams) (protocol.ChatMetadata, error) {
	if p.SessionKey != "" {
		if _, err := f.o.Agents.Canonical(p.SessionKey, p.AgentID); err != nil {
			return protocol.ChatMetadata{}, err
		}
	}
	models, err := f.o.Models.List(ctx, protocol.ModelsListParams{})
	if err != nil {
		return protocol.ChatMetadata{}, err
	}
	commands, err := f.commandList(ctx, method.None{})
	return protocol.ChatMetadata{Models: models.Models, Commands: commands.Commands}, err
}

func (f *feature) abort(ctx context.Context, p protocol.ChatAbortParams) (protocol.ChatAbortResult, error) {
	key, err := f.o.Agents.Canonical(p.SessionKey, p.AgentID)
	if err != nil {
		return protocol.ChatAbortResult{}, err
	}
	ids, err := f.o.Sessions.Abort(ctx, key, p.RunID)
	if ids == nil {
		ids = []string{}
	}
	return protocol.ChatAbortResult{OK: true, Aborted: len(ids) > 0, RunIDs: ids}, err
}

func (f *feature) inject(ctx context.Context, p protocol.ChatInjectParams) (protocol.ChatInjectResult, error) {
	key, err := f.o.Agents.Canonical(p.SessionKey, p.AgentID)
	switch {
	case err != nil:
		return protocol.ChatInjectResult{}, err
	case strings.TrimSpace(p.Message) == "" || len(p.Message) > protocol.MaxMessageText:
		return protocol.ChatInjectResult{}, protocol.InvalidParams(protocol.MethodChatInject, "message must have 1 to %d bytes",
			protocol.MaxMessageText)
	case len(p.Label) > 100:
		return protocol.ChatInjectResult{}, protocol.InvalidParams(protocol.MethodChatInject, "label has %d bytes, at most 100 are allowed",
			len(p.Label))
	}
	msg, err := f.o.Sessions.Inject(ctx, key, p.Message, p.Label)
	if err != nil {
		return protocol.ChatInjectResult{}, err
	}
	return protocol.ChatInjectResult{OK: true, MessageID: msg.Meta.ID}, nil
}

// picture gives a client a picture of a conversation.
func (f *feature) picture(_ context.Context, p protocol.MediaGetParams) (protocol.Media, error) {
	pic, data, err := f.o.Media.Get(p.ID)
	if errors.Is(err, media.ErrGone) {
		return protocol.Media{}, protocol.Invalid("%v", err).With("code", "NOT_FOUND")
	}
	if err != nil {
		return protocol.Media{}, err
	}
	return protocol.Media{ID: pic.ID, MimeType: pic.MIME, Width: pic.Width, Height: pic.Height,
		Content: base64.StdEncoding.EncodeToString(data)}, nil
}

// drop forgets a file that is not to be sent.
func (f *feature) drop(_ context.Context, p protocol.UploadDropParams) (protocol.OKResult, error) {
	f.o.Desk.Drop(p.Upload)
	return protocol.OKResult{OK: true}, nil
}

// view notes which chat the caller's person looks at, so that nobody is told of
// an answer they have before their eyes.
func (f *feature) view(_ context.Context, c *server.Caller, p protocol.ViewParams) (protocol.OKResult, error) {
	key := ""
	if p.Key != "" {
		var err error
		if key, err = f.o.Agents.Canonical(p.Key, ""); err != nil {
			return protocol.OKResult{}, err
		}
	}
	c.View(key)
	return protocol.OKResult{OK: true}, nil
}

package dispatch

import (
	"cmp"
	"context"
	"encoding/base64"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// Pictures judges and keeps the pictures of a message. All are judged, and
// the model is known to see, before one is kept.
func (d *Dispatcher) Pictures(ctx context.Context, turn session.Turn, list []protocol.Attachment) ([]protocol.Block, error) {
	if len(list) > protocol.MaxAttachments {
		return nil, protocol.Invalid("A message can have at most %d pictures, this one has %d. Send them in several messages; nothing was "+
			"accepted.", protocol.MaxAttachments, len(list))
	}
	if err := d.mustSee(ctx, turn); err != nil {
		return nil, err
	}
	blocks := make([]protocol.Block, len(list))
	all := make([][]byte, len(list))
	for i, a := range list {
		name := wire.Clean(a.FileName, 120)
		data, err := contentOf(a)
		if err == nil {
			_, err = media.Judge(data)
		}
		if err != nil {
			return nil, protocol.Invalid("Attachment %d%s cannot be sent: %v. Nothing was accepted.", i+1, inBrackets(name), err)
		}
		all[i], blocks[i] = data, protocol.Block{Type: protocol.BlockImage, FileName: name}
	}
	for i, data := range all {
		p, err := d.media.Put(data)
		if err != nil {
			return nil, err
		}
		b := &blocks[i]
		b.MimeType, b.MediaID, b.Width, b.Height = p.MIME, p.ID, p.Width, p.Height
	}
	return blocks, nil
}

func inBrackets(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// contentOf reads base64, plain or in a data: address. What the sender says it is
// does not count; the bytes do.
func contentOf(a protocol.Attachment) ([]byte, error) {
	s := a.Content
	if rest, ok := strings.CutPrefix(s, "data:"); ok {
		_, s, _ = strings.Cut(rest, ",")
	}
	if base64.StdEncoding.DecodedLen(len(s)) > media.MaxBytes+4 {
		return nil, media.ErrLarge
	}
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, media.ErrKind
	}
	return data, nil
}

// answering is the model that will answer a turn, as far as that is known now.
func (d *Dispatcher) answering(ctx context.Context, turn session.Turn) (provider.Choice, error) {
	hints := d.Hinted(turn).Hints
	asked := cmp.Or(hints.Model, turn.Model)
	ref, _, _ := profile.ParseRef(asked)
	if row, ok, err := d.sessions.Get(turn.SessionKey); err != nil {
		return provider.Choice{}, err
	} else if ok && asked == "" && row.ModelOverride {
		ref = model.Ref{Provider: row.ModelProvider, Model: row.Model}
	}
	return d.registry.Resolve(ctx, ref)
}

// mustSee refuses pictures that the model of the turn could not see.
func (d *Dispatcher) mustSee(ctx context.Context, turn session.Turn) error {
	c, err := d.answering(ctx, turn)
	if err != nil {
		return protocol.Invalid("%s Nothing was accepted.", err)
	}
	if !c.Images {
		return protocol.Invalid("%s cannot see pictures, as far as Hearth knows. Pick a model that can, or send the text alone; nothing was "+
			"accepted. If it can, set input: [\"text\", \"image\"] for it under models.providers.%s.models.", c.Ref, c.Ref.Provider)
	}
	return nil
}

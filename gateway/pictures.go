package gateway

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"path/filepath"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// mediaFolder is where the state folder keeps pictures.
const mediaFolder = "media"

func (g *Gateway) pictures() *media.Store {
	return media.New(filepath.Join(string(g.opts.Dir), mediaFolder))
}

// takePictures judges and keeps the pictures of a message. All are judged, and
// the model is known to see, before one is kept.
func (g *Gateway) takePictures(ctx context.Context, turn session.Turn, list []protocol.Attachment) ([]protocol.Block, error) {
	if len(list) > protocol.MaxAttachments {
		return nil, protocol.Invalid("A message can have at most %d pictures, this one has %d. Send them in several messages; nothing was accepted.", protocol.MaxAttachments, len(list))
	}
	if err := g.mustSee(ctx, turn); err != nil {
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
	store := g.pictures()
	for i, data := range all {
		p, err := store.Put(data)
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

// mustSee refuses pictures that the model of the turn could not see.
func (g *Gateway) mustSee(ctx context.Context, turn session.Turn) error {
	hints := g.hinted(turn).Hints
	asked := cmp.Or(hints.Model, turn.Model)
	ref, _, _ := profile.ParseRef(asked)
	if row, ok, err := g.session.Get(turn.SessionKey); err != nil {
		return err
	} else if ok && asked == "" && row.ModelOverride {
		ref = model.Ref{Provider: row.ModelProvider, Model: row.Model}
	}
	c, err := g.models.Resolve(ctx, ref)
	if err != nil {
		return protocol.Invalid("%s Nothing was accepted.", err)
	}
	if !c.Images {
		return protocol.Invalid("%s cannot see pictures, as far as Hearth knows. Pick a model that can, or send the text alone; nothing was accepted. If it can, set input: [\"text\", \"image\"] for it under models.providers.%s.models.", c.Ref, c.Ref.Provider)
	}
	return nil
}

// picture reads one for a model.
func (g *Gateway) picture(id string) (model.Image, error) {
	p, data, err := g.pictures().Get(id)
	return model.Image{MIME: p.MIME, Data: data, ID: id}, err
}

// mediaGet gives a client a picture of a conversation.
func (g *Gateway) mediaGet(_ context.Context, p protocol.MediaGetParams) (protocol.Media, error) {
	pic, data, err := g.pictures().Get(p.ID)
	if errors.Is(err, media.ErrGone) {
		return protocol.Media{}, protocol.Invalid("%v", err).With("code", "NOT_FOUND")
	}
	if err != nil {
		return protocol.Media{}, err
	}
	return protocol.Media{ID: pic.ID, MimeType: pic.MIME, Width: pic.Width, Height: pic.Height, Content: base64.StdEncoding.EncodeToString(data)}, nil
}

package gateway

import (
	"context"
	"encoding/base64"
	"errors"
	"path/filepath"

	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// mediaFolder is where the state folder keeps pictures.
const mediaFolder = "media"

func (g *Gateway) pictures() *media.Store {
	return media.New(filepath.Join(string(g.opts.Dir), mediaFolder))
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

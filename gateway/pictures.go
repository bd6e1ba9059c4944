package gateway

import (
	"path/filepath"

	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/model"
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

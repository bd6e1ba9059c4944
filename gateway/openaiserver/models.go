package openaiserver

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
)

// defaultModel is the name of the default assistant.
const defaultModel = "hearth"

func (h *Handler) models(w http.ResponseWriter, _ *http.Request, _ *visit) error {
	list := []any{}
	for _, m := range h.Engine.Models() {
		list = append(list, modelJSON(m))
	}
	return newStream(w, h.limits.Write).whole(map[string]any{"object": "list", "data": list})
}

func (h *Handler) model(w http.ResponseWriter, r *http.Request, _ *visit) error {
	id := r.PathValue("id")
	for _, m := range h.Engine.Models() {
		if m.ID == id {
			return newStream(w, h.limits.Write).whole(modelJSON(m))
		}
	}
	return NoModel("There is no model %q; GET /v1/models lists them.", clip(id, 100))
}

func modelJSON(m Model) map[string]any {
	return map[string]any{"id": m.ID, "object": "model", "created": m.Created, "owned_by": m.Owner}
}

const (
	maxTexts    = 2048
	maxTextSize = 256 << 10
)

type embeddingsRequest struct {
	Model      string          `json:"model"`
	Input      json.RawMessage `json:"input"`
	Format     string          `json:"encoding_format"`
	Dimensions int             `json:"dimensions"`
}

// embeddings serves POST /v1/embeddings with the model of memory.
func (h *Handler) embeddings(w http.ResponseWriter, r *http.Request, v *visit) error {
	var raw embeddingsRequest
	if err := h.read(w, r, &raw); err != nil {
		return err
	}
	texts, err := textsOf(&raw)
	if err != nil {
		return err
	}
	name, vectors, err := h.Engine.Vectors(v.ctx, texts)
	if err != nil {
		return err
	}
	data, size := make([]any, len(vectors)), 0
	for i, vec := range vectors {
		row := map[string]any{"object": "embedding", "index": i, "embedding": vec}
		if raw.Format == "base64" {
			row["embedding"] = packed(vec)
		}
		data[i] = row
		size += len(texts[i])
	}
	// Services do not tell the tokens of vectors; four bytes make about one.
	tokens := (size + 3) / 4
	return newStream(w, h.limits.Write).whole(map[string]any{
		"object": "list", "data": data, "model": name, "usage": map[string]any{"prompt_tokens": tokens, "total_tokens": tokens},
	})
}

// packed is a vector as base64 of 32-bit numbers, the lowest byte first.
func packed(v []float32) string {
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func textsOf(r *embeddingsRequest) ([]string, error) {
	switch r.Format {
	case "", "float", "base64":
	default:
		return nil, Invalid("encoding_format", "encoding_format can be float or base64.")
	}
	if r.Dimensions != 0 {
		return nil, Invalid("dimensions", "The vectors have as many numbers as the model gives them; leave dimensions out.")
	}
	var texts []string
	var one string
	if json.Unmarshal(r.Input, &one) == nil {
		texts = []string{one}
	} else if err := json.Unmarshal(r.Input, &texts); err != nil {
		return nil, Invalid("input", "The input is a text or a list of texts; tokens cannot be sent.")
	}
	if len(texts) == 0 || len(texts) > maxTexts {
		return nil, Invalid("input", "There are %d texts; 1 to %d can be sent at once.", len(texts), maxTexts)
	}
	for i, t := range texts {
		if t == "" || len(t) > maxTextSize {
			return nil, Invalid("input", "Text %d has %d bytes; 1 to %d are possible.", i, len(t), maxTextSize)
		}
	}
	return texts, nil
}

package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"net/url"
	"path"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/signal"
)

// inline is a file within a request, as a data: address: so signal-cli may run on
// another computer, and reads no file of this one.
func (c *Client) inline(m channel.Media) (string, error) {
	if c.openFile == nil {
		return "", refused("no file may leave here")
	}
	f, err := c.openFile(m.URL)
	if err != nil {
		return "", fmt.Errorf("open the file that is to be sent: %w", err)
	}
	defer func() { _ = f.Close() }()
	most := c.Limits().Files
	var all bytes.Buffer
	if _, err := io.Copy(&all, io.LimitReader(f, most+1)); err != nil {
		return "", fmt.Errorf("read the file that is to be sent: %w", err)
	}
	if int64(all.Len()) > most {
		return "", refused("the file has more than the %d bytes that are sent", most)
	}
	if all.Len() == 0 {
		return "", refused("the file is empty")
	}
	name := cmp.Or(path.Base(strings.ToValidUTF8(m.Name, "_")), "file")
	kind, _, err := mime.ParseMediaType(cmp.Or(m.MIME, mime.TypeByExtension(path.Ext(name))))
	if err != nil || !strings.Contains(kind, "/") {
		kind = "application/octet-stream"
	}
	return "data:" + kind + ";filename=" + url.QueryEscape(name) + ";base64," + base64.StdEncoding.EncodeToString(all.Bytes()), nil
}

// Fetch brings a file of a message, which signal-cli has fetched and decrypted.
func (c *Client) Fetch(ctx context.Context, m channel.Media) (io.ReadCloser, error) {
	v, err := url.ParseQuery(m.URL)
	id, in := v.Get("id"), v.Get("in")
	if err != nil || id == "" || strings.ContainsAny(id, `/\`) || len(id) > 200 {
		return nil, refused("%q is no file of a message", cut(m.URL))
	}
	params, err := recipient(in)
	if err != nil {
		return nil, err
	}
	if who, ok := params["recipient"].([]string); ok {
		params["recipient"] = who[0]
	}
	params["id"] = id
	most := c.Limits().Files
	if m.Size > most {
		return nil, tooLarge(most)
	}
	var said struct {
		Data string `json:"data"`
	}
	q := call{method: "getAttachment", params: params, within: fileTime,
		most: int64(base64.StdEncoding.EncodedLen(signal.MostFile)) + maxAnswer}
	if err := c.do(ctx, q, &said); err != nil {
		return nil, err
	}
	if int64(base64.StdEncoding.DecodedLen(len(said.Data))) > most+2 {
		return nil, tooLarge(most)
	}
	b, err := base64.StdEncoding.DecodeString(said.Data)
	switch {
	case err != nil:
		return nil, fmt.Errorf("signal-cli's answer is no file: %w", err)
	case int64(len(b)) > most:
		return nil, tooLarge(most)
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func tooLarge(most int64) error {
	return refused("the file has more than the %d bytes that are allowed", most)
}

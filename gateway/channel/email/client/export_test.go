package client

import "context"

// Texts gives a client another name service.
func (c *Client) Texts(of func(ctx context.Context, name string) ([]string, error)) { c.texts = of }

// Parse is what a message says: its text, what it quotes, and its files.
func Parse(raw []byte) (text, quoted string, files []string, err error) {
	l, err := parse(raw)
	if err != nil {
		return "", "", nil, err
	}
	for _, f := range l.files {
		files = append(files, f.name)
	}
	return l.text, l.quoted, files, nil
}

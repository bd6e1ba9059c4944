// Package qrcode draws QR codes for pages. What stands in one is the caller's
// business, and the terminal draws its own (app/cli).
package qrcode

import (
	"encoding/base64"
	"fmt"

	"rsc.io/qr"
)

// Picture draws a text as a QR code that a page can show: a PNG as a data URL.
func Picture(text string) (string, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return "", fmt.Errorf("draw the code as a QR code: %w", err)
	}
	code.Scale = max(3, 240/(code.Size+8)) // as large as a camera likes it
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(code.PNG()), nil
}

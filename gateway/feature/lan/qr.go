package lan

import (
	"encoding/base64"
	"fmt"

	"rsc.io/qr"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// drawSetup adds the pictures of a setup code.
func drawSetup(s *protocol.PairSetup) (err error) {
	if s.QRDataURL, err = qrPicture(s.SetupCode); err != nil || len(s.PhoneURLs) == 0 {
		return err
	}
	s.PhoneQRDataURL, err = qrPicture(s.PhoneURLs[0])
	return err
}

// qrPicture draws a text as a QR code that a page can show: a PNG as a data URL.
func qrPicture(text string) (string, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return "", fmt.Errorf("draw the code as a QR code: %w", err)
	}
	code.Scale = max(3, 240/(code.Size+8)) // as large as a camera likes it
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(code.PNG()), nil
}

package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// drawing is a document as it is sent. A matrix of 200 hosts is a megabyte, which takes longer to write and to compress than to
// look up.
type drawing struct{ plain, packed []byte }

// draw writes a document, and compresses it.
func draw(doc any) (*drawing, error) {
	plain, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("write document: %w", err)
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err == nil {
		_, err = z.Write(plain)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return &drawing{plain, packed.Bytes()}, nil
}

// answer sends the document, compressed to who takes that; to who says how gladly (RFC 9110, section 12.4.2), as compressed does.
func (d *drawing) answer() *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "application/json")
		text := d.plain
		if takes := ctx.Header("Accept-Encoding"); strings.Contains(takes, "gzip") && !strings.Contains(takes, "q=") {
			ctx.SetHeader("Content-Encoding", "gzip")
			text = d.packed
		}
		_, _ = ctx.BodyWriter().Write(text) // to a client that may be gone
	}}
}

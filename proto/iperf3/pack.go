package iperf3

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// The results of a Pathwise server hold hundreds of readings of TCP_INFO, which take seconds on a slow way back. To a client that says so in its parameters
// (see ParamsExtra.Packs) they are sent packed (gzip, RFC 1952): such a text does not begin like JSON.

// packed is how a packed text begins (RFC 1952 section 2.3.1).
var packed = []byte{0x1f, 0x8b}

// pack returns a text packed.
func pack(text []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return text // it cannot be: the level is one of gzip's
	}
	_, err = w.Write(text)
	if closed := w.Close(); err != nil || closed != nil { // nor can this: a buffer takes everything
		return text
	}
	return b.Bytes()
}

// unpack returns a text as it was, whether it was packed or not. One of more than limit bytes is refused.
func unpack(text []byte, limit int) ([]byte, error) {
	if !bytes.HasPrefix(text, packed) {
		return text, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(r, int64(limit)+1))
	}
	if err != nil {
		return nil, &ProtocolError{What: "results that cannot be unpacked: " + err.Error()}
	}
	if len(text) > limit {
		return nil, &ProtocolError{What: fmt.Sprintf("results of more than %d bytes", limit)}
	}
	return text, nil
}

package iperf3

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestPack(t *testing.T) {
	text := []byte(`{"rows":[` + strings.Repeat("[1,0.05,1448],", 1000) + `[1]]}`)
	small := pack(text)
	if len(small) > len(text)/20 {
		t.Errorf("%d bytes of %d are left", len(small), len(text))
	}
	for name, sent := range map[string][]byte{"packed": small, "plain": text} {
		if got, err := unpack(sent, len(text)); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %d bytes, error %v", name, len(got), err)
		}
	}
	for name, sent := range map[string][]byte{"too long": pack(append(text, ' ')), "cut off": small[:len(small)-1], "no gzip": []byte("\x1f\x8b{}")} {
		var refused *ProtocolError
		if _, err := unpack(sent, len(text)); !errors.As(err, &refused) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(pack([]byte(`{"streams":[]}`)))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		const limit = 1000
		if out, err := unpack(text, limit); err == nil && bytes.HasPrefix(text, packed) && len(out) > limit {
			t.Errorf("%d bytes", len(out))
		}
	})
}

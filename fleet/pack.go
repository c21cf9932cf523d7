package fleet

import (
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// maxUnpacked bounds what a message unpacks to: the output of a program with its Result, or a day's plan of a busy host,
// and what a hostile agent can make the controller hold.
const maxUnpacked = 64 << 20

// packer turns values into compressed JSON and back. It may be used by several goroutines at once.
type packer struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

func newPacker() (*packer, error) {
	// The window is small because agents are: it costs a few per cent of size and saves megabytes.
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(128<<10), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("make compressor: %w", err)
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxUnpacked))
	if err != nil {
		return nil, fmt.Errorf("make decompressor: %w", err)
	}
	return &packer{e, d}, nil
}

func (p *packer) pack(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return p.compress(raw), nil
}

func (p *packer) unpack(data []byte, v any) error {
	raw, err := p.decompress(data)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}

func (p *packer) compress(raw []byte) []byte { return p.encoder.EncodeAll(raw, nil) }

func (p *packer) decompress(data []byte) ([]byte, error) { return p.decoder.DecodeAll(data, nil) }

package fleet

import (
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxResults bounds what Results in one whole unpack to: a spool keeps none of more than 16 MB.
	maxResults = 24 << 20
	// maxPlan bounds what a plan unpacks to: a day of a busy host.
	maxPlan = 64 << 20
	// maxPlanPacked lets a plan of some 200,000 runs pass.
	maxPlanPacked = 8 << 20
)

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
		zstd.WithDecodeAllCapLimit(true)) // nothing is written beyond what decompress makes room for
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

// unpack reads what is at most so many bytes long.
func (p *packer) unpack(data []byte, v any, most int) error {
	raw, err := p.decompress(data, most)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}

func (p *packer) compress(raw []byte) []byte { return p.encoder.EncodeAll(raw, nil) }

func (p *packer) decompress(data []byte, most int) ([]byte, error) {
	size, err := unpackedSize(data, most)
	if err != nil {
		return nil, err
	}
	return p.decoder.DecodeAll(data, make([]byte, 0, size))
}

// unpackedSize is what a whole says of itself, which is what it may unpack to, and most where it says nothing. What is
// beyond most is an error.
func unpackedSize(data []byte, most int) (int, error) {
	var h zstd.Header
	if err := h.Decode(data); err != nil {
		return 0, fmt.Errorf("read length: %w", err)
	}
	switch {
	case h.Skippable || !h.HasFCS:
		return most, nil
	case h.FrameContentSize > uint64(most):
		return 0, fmt.Errorf("%w: %d bytes, unpacked; at most %d are taken", errTooLong, h.FrameContentSize, most)
	}
	return int(h.FrameContentSize), nil
}

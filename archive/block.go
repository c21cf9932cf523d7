package archive

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/pathwise-net/pathwise/measure"
)

// A block is Results of one tool and one day that were put together: JSON lines, compressed as one. A Result is found
// by its block's number and its line.
//
// blockBytes is how much JSON a block holds at most, unless one Result alone is larger: enough for compression to find
// what repeats, little enough to read it all for one Result in a millisecond.
const blockBytes = 256 << 10

// largestBlock is what is taken for a block when it is read: a Result is no larger than what an agent keeps of a
// program's output, a few MB. Beyond it is damage.
const largestBlock = 256 << 20

// dictionary is what Results look like, so that a block with a single one compresses well, too. What was compressed
// with it cannot be read without it: never change the file; add a second one, with a number of its own.
//
//go:embed dictionary.json
var dictionary []byte

const dictionaryNumber = 1

// packer compresses and expands blocks, from many goroutines at once.
type packer struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
	buffers sync.Pool // *[]byte: room for the lines of a block before they are compressed
}

func newPacker() (*packer, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(dictionaryNumber, dictionary),
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(blockBytes), zstd.WithEncoderCRC(true))
	if err != nil {
		return nil, fmt.Errorf("make compressor: %w", err)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderDictRaw(dictionaryNumber, dictionary),
		zstd.WithDecoderMaxMemory(largestBlock), zstd.WithDecoderConcurrency(0))
	if err != nil {
		return nil, fmt.Errorf("make expander: %w", err)
	}
	return &packer{encoder: encoder, decoder: decoder}, nil
}

func (p *packer) close() {
	p.encoder.Close()
	p.decoder.Close()
}

// pack makes a block of lines.
func (p *packer) pack(lines []byte) []byte {
	return p.encoder.EncodeAll(lines, make([]byte, 0, len(lines)/8))
}

// unpack returns the lines of a block, without their ends.
func (p *packer) unpack(block []byte) ([][]byte, error) {
	lines, err := p.decoder.DecodeAll(block, nil)
	if err != nil {
		return nil, fmt.Errorf("expand block: %w", err)
	}
	return bytes.Split(bytes.TrimSuffix(lines, newline), newline), nil
}

var newline = []byte("\n")

// decodeResult reads one line.
func decodeResult(line []byte) (*measure.Result, error) {
	r := new(measure.Result)
	if err := json.Unmarshal(line, r); err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	return r, nil
}

package archive

import (
	"encoding/binary"
	"errors"

	"github.com/pathwise-net/pathwise/stat"
)

// Numbers in what is kept are varints, or floats as stat.AppendFloat writes them.

var errDamaged = errors.New("damaged data in the archive")

// reader takes numbers off data. The first that is not there, or cannot be, sets err, and all after it are 0.
type reader struct {
	data []byte
	err  error
}

func (r *reader) fail() uint64 {
	r.data, r.err = nil, errDamaged
	return 0
}

// uint reads a number below a limit.
func (r *reader) uint(limit uint64) uint64 {
	v, size := binary.Uvarint(r.data)
	if size <= 0 || v >= limit {
		return r.fail()
	}
	r.data = r.data[size:]
	return v
}

func (r *reader) int() int64 {
	v, size := binary.Varint(r.data)
	if size <= 0 {
		return int64(r.fail())
	}
	r.data = r.data[size:]
	return v
}

func (r *reader) float() float64 {
	v, rest, ok := stat.ReadFloat(r.data)
	if !ok {
		return float64(r.fail())
	}
	r.data = rest
	return v
}

// take returns the next n bytes.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.data)) {
		r.fail()
		return nil
	}
	taken := r.data[:n:n]
	r.data = r.data[n:]
	return taken
}

// count reads how many things follow that take at least so many bytes each.
func (r *reader) count(each int) int {
	return int(r.uint(uint64(len(r.data)/max(1, each)) + 1))
}

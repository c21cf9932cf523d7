package spool

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

const (
	kindBegun  byte = 1
	kindResult byte = 2
	kindFiled  byte = 3
	kindMark   byte = 4
)

const headSize = 13

// magic begins a frame. Bytes above 0x7f that are no UTF-8 keep it out of any text.
var magic = []byte{0xf5, 'P', 'W', 0xf6}

// castagnoli is the polynomial that processors compute: 10 GB/s.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame appends a frame whose body is the parts, one after another.
func appendFrame(to []byte, kind byte, parts ...[]byte) []byte {
	start := len(to)
	to = append(to, magic...)
	to = append(to, make([]byte, headSize-len(magic))...)
	for _, part := range parts {
		to = append(to, part...)
	}
	f := to[start:]
	f[12] = kind
	binary.LittleEndian.PutUint32(f[4:], uint32(len(f)-headSize))
	binary.LittleEndian.PutUint32(f[8:], checksum(f))
	return to
}

// checksum covers everything but the magic and itself.
func checksum(f []byte) uint32 {
	return crc32.Update(crc32.Checksum(f[4:8], castagnoli), castagnoli, f[12:])
}

// parseFrame returns the frame that data begins with; ok is false if there is no whole one.
func parseFrame(data []byte) (kind byte, body []byte, ok bool) {
	if len(data) < headSize || !bytes.Equal(data[:4], magic) {
		return 0, nil, false
	}
	length := binary.LittleEndian.Uint32(data[4:])
	if uint64(length) > uint64(len(data)-headSize) {
		return 0, nil, false
	}
	f := data[:headSize+int(length)]
	if checksum(f) != binary.LittleEndian.Uint32(f[8:]) {
		return 0, nil, false
	}
	return f[12], f[headSize:], true
}

// scan calls each for every whole frame of a segment, with the frame's place, and returns how many bytes were no part of
// one: between whole frames, and after the last.
func scan(data []byte, each func(kind byte, body []byte, at int)) (between, after int) {
	for at := 0; at < len(data); {
		kind, body, ok := parseFrame(data[at:])
		if ok {
			each(kind, body, at)
			at += headSize + len(body)
			between, after = between+after, 0
			continue
		}
		skip := len(data) - at
		if next := bytes.Index(data[at+1:], magic); next >= 0 {
			skip = next + 1
		}
		after += skip
		at += skip
	}
	return between, after
}

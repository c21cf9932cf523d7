package probe

import (
	"bytes"
	"errors"

	"github.com/pathwise-net/pathwise/proto/changed"
)

// talk is what one end of a connection knows of it, and what it makes of segments that come. It is pure. A segment counts only with the numbers that the far end's next
// one has, so that nobody off the path can open, answer or end the connection (RFC 5961).
type talk struct {
	own, far uint16 // ports
	next     uint32 // sequence number of the request
	theirs   uint32 // the next that is expected
	stamped  bool   // both ends have time stamps
	echo     uint32 // the far end's last
	answer   []byte
}

// mostAnswer is how many bytes an answer has at most: more than the headers of a SYN take as text.
const mostAnswer = 4096

var errTalkRefused = errors.New("connection refused")

// opened says whether a packet opens the connection; the error, that it refuses it.
func (t *talk) opened(p []byte) (bool, error) {
	got, _, ok := t.segment(p)
	switch {
	case !ok || got.flags&flagACK == 0 || got.ack != t.next:
	case got.flags&flagRST != 0:
		return false, errTalkRefused
	case got.flags&flagSYN != 0:
		t.theirs = got.seq + 1
		t.echo, t.stamped = changed.TimeStamp(p)
		return true, nil
	}
	return false, nil
}

// take takes a packet of the open connection, and says whether the answer is whole, as after a line, and whether there was data in it.
func (t *talk) take(p []byte) (whole, data bool, err error) {
	got, bytesOf, ok := t.segment(p)
	switch {
	case !ok:
		return false, false, nil
	case got.seq != t.theirs: // sent twice, or out of order
		return false, len(bytesOf) > 0, nil
	case got.flags&flagRST != 0:
		return false, false, errTalkRefused
	}
	if stamp, has := changed.TimeStamp(p); has && t.stamped {
		t.echo = stamp
	}
	t.theirs += uint32(len(bytesOf))
	t.answer = append(t.answer, bytesOf...)
	return bytes.IndexByte(t.answer, '\n') >= 0 || got.flags&flagFIN != 0 || len(t.answer) > mostAnswer, len(bytesOf) > 0, nil
}

// segment is a packet of the connection, and its data.
func (t *talk) segment(p []byte) (got segment, data []byte, ok bool) {
	got, _ = parseSegment(p)
	data, ok = segmentData(p)
	return got, data, ok && got.from == t.far && got.to == t.own
}

// line is the answer up to the end of its first line.
func (t *talk) line() []byte {
	line, _, _ := bytes.Cut(t.answer, []byte("\n"))
	return t.answer[:min(len(line)+1, len(t.answer))]
}

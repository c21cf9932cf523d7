package owamp

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
)

// Record is what became of one packet, as its receiver tells it.
type Record struct {
	Sequence                 uint32
	SentError, ReceivedError control.ErrorEstimate
	Sent                     control.Timestamp // by the sender's clock; of a lost packet when it was to be sent
	Received                 control.Timestamp // by the receiver's clock; 0: lost
	TTL                      uint8             // on arrival; 255: not known
}

// Lost reports whether the packet was sent, as far as is known, and did not come in time.
func (r Record) Lost() bool { return r.Received == 0 }

// Delay is from when the packet was sent to when it was received, by two clocks: it may be below 0. Of a lost one it has no meaning.
func (r Record) Delay() time.Duration { return r.Received.Time().Sub(r.Sent.Time()) }

// Bound is how far Delay may be from the true one; known is false where a clock does not say.
func (r Record) Bound() (bound time.Duration, known bool) {
	sent, sentKnown := r.SentError.Bound()
	received, receivedKnown := r.ReceivedError.Bound()
	return sent + received, sentKnown && receivedKnown
}

const (
	recordBytes = 25
	noTTL       = 255
)

// encode appends the record as a fetch has it.
//
//	 0  sequence number (4)
//	 4  error estimates of sending (2) and of receiving (2)
//	 8  time sent (8)
//	16  time received (8)
//	24  TTL (1)
func (r Record) encode(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, r.Sequence)
	b = binary.BigEndian.AppendUint16(b, uint16(r.SentError))
	b = binary.BigEndian.AppendUint16(b, uint16(r.ReceivedError))
	b = binary.BigEndian.AppendUint64(b, uint64(r.Sent))
	b = binary.BigEndian.AppendUint64(b, uint64(r.Received))
	return append(b, r.TTL)
}

func decodeRecord(b []byte) Record {
	return Record{
		Sequence: binary.BigEndian.Uint32(b), SentError: control.ErrorEstimate(binary.BigEndian.Uint16(b[4:])),
		ReceivedError: control.ErrorEstimate(binary.BigEndian.Uint16(b[6:])), Sent: control.Timestamp(binary.BigEndian.Uint64(b[8:])),
		Received: control.Timestamp(binary.BigEndian.Uint64(b[16:])), TTL: b[24],
	}
}

// Skip is a range of packets that were not sent: the sender was too late for them.
type Skip struct{ First, Last uint32 }

const skipBytes = 8

func encodeSkips(skips []Skip) []byte {
	var b []byte
	for _, s := range skips {
		b = binary.BigEndian.AppendUint32(b, s.First)
		b = binary.BigEndian.AppendUint32(b, s.Last)
	}
	return b
}

// decodeSkips reads ranges, which rise and do not overlap.
func decodeSkips(b []byte, n int) ([]Skip, error) {
	var skips []Skip
	for i := range n {
		s := Skip{binary.BigEndian.Uint32(b[skipBytes*i:]), binary.BigEndian.Uint32(b[skipBytes*i+4:])}
		if s.Last < s.First || i > 0 && s.First <= skips[i-1].Last {
			return nil, fmt.Errorf("packets %d to %d skipped: the range is empty, or not behind the one before it", s.First, s.Last)
		}
		skips = append(skips, s)
	}
	return skips, nil
}

// addSkip adds one packet to ranges that end before it.
func addSkip(skips []Skip, sequence uint32) []Skip {
	if n := len(skips); n > 0 && skips[n-1].Last+1 == sequence {
		skips[n-1].Last = sequence
		return skips
	}
	return append(skips, Skip{sequence, sequence})
}

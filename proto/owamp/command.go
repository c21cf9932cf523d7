package owamp

import (
	"encoding/binary"
	"fmt"

	"github.com/pathwise-net/pathwise/proto/control"
)

// stopped is what one end says of a session that it sent, when it ends: the number of the next packet that it would have sent, and those
// before it that it did not.
//
//	 0  SID (16)
//	16  next sequence number (4), number of skipped ranges (4)
//	24  skipped ranges (8 each), zero to the end of the block
type stopped struct {
	id    control.SID
	next  uint32
	skips []Skip
}

func (s stopped) encode() []byte {
	b := append([]byte{}, s.id[:]...)
	b = binary.BigEndian.AppendUint32(b, s.next)
	b = binary.BigEndian.AppendUint32(b, uint32(len(s.skips)))
	return append(b, encodeSkips(s.skips)...)
}

// mostSkips of one session are read: a sender that was stalled that often measured nothing.
const mostSkips = 1 << 16

// sendStop says that all sessions end, and what became of those that this end sent.
func sendStop(w *control.Writer, why control.Accept, sent []stopped) error {
	w.Add(control.EncodeStop(why, uint32(len(sent))))
	for _, s := range sent {
		w.Add(s.encode())
	}
	w.Digest()
	return w.Flush()
}

// receiveStop reads the far end's message, of which the first block was read, about at most so many sessions.
func receiveStop(r *control.Reader, first []byte, most int) (sent []stopped, why control.Accept, err error) {
	why, sessions, err := control.DecodeStop(first)
	if err != nil {
		return nil, why, err
	}
	if int64(sessions) > int64(most) {
		return nil, why, fmt.Errorf("end of %d sessions: there are %d", sessions, most)
	}
	for range sessions {
		s, err := receiveStopped(r)
		if err != nil {
			return nil, why, err
		}
		sent = append(sent, s)
	}
	return sent, why, r.Verify()
}

func receiveStopped(r *control.Reader) (s stopped, err error) {
	head := make([]byte, 2*control.BlockBytes)
	if err := r.Read(head); err != nil {
		return s, err
	}
	s.id, s.next = control.SID(head), binary.BigEndian.Uint32(head[16:])
	skips := binary.BigEndian.Uint32(head[20:])
	if skips > mostSkips {
		return s, fmt.Errorf("end of session %v: %d skipped ranges, want at most %d", s.id, skips, mostSkips)
	}
	ranges := head[24:]
	if skips > 1 { // one is in the second block
		more := make([]byte, whole(int(skips-1)*skipBytes))
		if err := r.Read(more); err != nil {
			return s, err
		}
		ranges = append(ranges, more...)
	}
	s.skips, err = decodeSkips(ranges, int(skips))
	return s, err
}

// whole is a number of bytes, filled up to whole blocks.
func whole(bytes int) int { return (bytes + control.BlockBytes - 1) &^ (control.BlockBytes - 1) }

// fetch asks for the records of a session.
//
//	 0  command (1), zero (7)
//	 8  first and last sequence number (4 each); 0 and 2^32-1: all
//	16  SID (16)
type fetch struct {
	first, last uint32
	id          control.SID
}

const (
	fetchBytes    = 32
	fetchAckBytes = 16
	lastSequence  = 1<<32 - 1
)

func (f fetch) encode() []byte {
	b := make([]byte, fetchBytes)
	b[0] = byte(control.FetchSession)
	binary.BigEndian.PutUint32(b[8:], f.first)
	binary.BigEndian.PutUint32(b[12:], f.last)
	copy(b[16:], f.id[:])
	return b
}

func decodeFetch(b []byte) fetch {
	return fetch{binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:]), control.SID(b[16:])}
}

// fetchAck answers a fetch; unless it is refused the request, the skipped ranges and the records follow, each with a digest.
//
//	0  accept (1), finished (1), zero (2)
//	4  next sequence number (4), number of skipped ranges (4), number of records (4)
type fetchAck struct {
	accept               control.Accept
	finished             bool
	next, skips, records uint32
}

func (f fetchAck) encode() []byte {
	b := make([]byte, fetchAckBytes)
	b[0] = byte(f.accept)
	if f.finished {
		b[1] = 1
	}
	binary.BigEndian.PutUint32(b[4:], f.next)
	binary.BigEndian.PutUint32(b[8:], f.skips)
	binary.BigEndian.PutUint32(b[12:], f.records)
	return b
}

func decodeFetchAck(b []byte) fetchAck {
	return fetchAck{control.Accept(b[0]), b[1] != 0, binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:]),
		binary.BigEndian.Uint32(b[12:])}
}

// sendRequest asks for a session, or tells in a fetch what was asked for.
func sendRequest(w *control.Writer, r control.Request, slots []Slot) error {
	w.Add(r.Encode())
	w.Digest()
	for _, s := range slots {
		w.Add(s.encode())
	}
	w.Digest()
	return w.Flush()
}

// receiveRequest reads a request and its slots, of which the first block was read. A request that cannot be has an error of decoding in
// asked, and was read to its end where that could be found; err is of the connection.
func receiveRequest(r *control.Reader, first []byte) (q control.Request, slots []Slot, asked, err error) {
	b := make([]byte, control.RequestBytes)
	copy(b, first)
	if err := r.Receive(b[control.BlockBytes:]); err != nil {
		return q, nil, nil, err
	}
	q, asked = control.DecodeRequest(b)
	count := binary.BigEndian.Uint32(b[4:])
	if count > MostSlots {
		return q, nil, nil, fmt.Errorf("request of %d slots: want at most %d", count, MostSlots)
	}
	all := make([]byte, count*slotBytes)
	if err := r.Receive(all); err != nil {
		return q, nil, nil, err
	}
	for at := 0; at < len(all) && asked == nil; at += slotBytes {
		var s Slot
		s, asked = decodeSlot(all[at:])
		slots = append(slots, s)
	}
	return q, slots, asked, nil
}

// Session is the result of a session, at its receiver or fetched from there.
type Session struct {
	ID       control.SID
	Terms    Terms
	Finished bool     // it came to its end, and Next and Skipped are known
	Next     uint32   // the number of the first packet that was not sent any more
	Skipped  []Skip   // before it
	Records  []Record // in the order of arrival; of lost packets where the loss was seen
	Foreign  int      // packets that were none of the session's, which a fetch does not tell
}

// sendSession answers a fetch. It calls progress before each piece.
func sendSession(w *control.Writer, q control.Request, s Session, progress func()) error {
	w.Add(fetchAck{control.OK, s.Finished, s.Next, uint32(len(s.Skipped)), uint32(len(s.Records))}.encode())
	w.Digest()
	if err := sendRequest(w, q, s.Terms.Slots); err != nil {
		return err
	}
	w.Add(encodeSkips(s.Skipped))
	w.Digest()
	for records := s.Records; len(records) > 0; {
		some := records[:min(len(records), recordsAtOnce)]
		records = records[len(some):]
		b := make([]byte, 0, len(some)*recordBytes)
		for _, r := range some {
			b = r.encode(b)
		}
		w.Add(b)
		progress()
		if err := w.Flush(); err != nil {
			return err
		}
	}
	w.Digest()
	return w.Flush()
}

// recordsAtOnce fill whole blocks, but for the last of a session: 16 of them are 25 blocks.
const recordsAtOnce = 16 * 64

// receiveSession reads the answer to a fetch of at most so many records. It calls progress each time that something came.
func receiveSession(r *control.Reader, most int, progress func()) (s Session, err error) {
	b := make([]byte, fetchAckBytes)
	if err := r.Receive(b); err != nil {
		return s, err
	}
	ack := decodeFetchAck(b)
	if err := ack.accept.Check("fetch of session"); err != nil {
		return s, err
	}
	if ack.skips > mostSkips || int64(ack.records) > int64(most) {
		return s, fmt.Errorf("fetch of session: %d records and %d skipped ranges, want at most %d and %d", ack.records, ack.skips, most, mostSkips)
	}
	if err := r.Read(b); err != nil {
		return s, err
	}
	q, slots, asked, err := receiveRequest(r, b)
	if err != nil || asked != nil {
		return s, fmt.Errorf("fetch of session: request: %w", firstOf(err, asked))
	}
	s.Terms, _ = termsOf(q, slots)
	s.ID, s.Finished, s.Next = q.SID, ack.finished, ack.next
	skips := make([]byte, whole(int(ack.skips)*skipBytes))
	if err := r.Receive(skips); err != nil {
		return s, err
	}
	if s.Skipped, err = decodeSkips(skips, int(ack.skips)); err != nil {
		return s, err
	}
	for left := int(ack.records); left > 0; {
		some := min(left, recordsAtOnce)
		left -= some
		b := make([]byte, whole(some*recordBytes))
		if err := r.Read(b); err != nil {
			return s, err
		}
		progress()
		for i := range some {
			s.Records = append(s.Records, decodeRecord(b[i*recordBytes:]))
		}
	}
	return s, r.Verify()
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

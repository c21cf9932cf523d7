package peertest

import (
	"encoding/binary"
)

// Record is a packet as a receiver keeps it (RFC 4656 section 3.9), in 25 octets:
//
//	Seq Number (4) | Send Error Estimate (2) | Receive Error Estimate (2) | Send Timestamp (8) | Receive Timestamp (8) | TTL (1)
//
// The record of a lost packet has a Receive Timestamp of zero.
type Record struct {
	Seq                     uint32
	SendError, ReceiveError ErrorEstimate
	Sent, Received          Timestamp
	TTL                     byte
}

const recordLength = 25

// Fetched is what a server has of a session.
type Fetched struct {
	Finished byte
	Next     uint32
	Skips    []SkipRange
	Request  SessionRequest // with the SID
	Records  []Record
}

// Fetch asks for the records of a session whose sequence numbers are in a range; 0 and 2^32-1 mean the whole session. An Accept
// field that is not zero is returned as Refused. The messages (RFC 4656 section 3.9):
//
//	4 (1) | MBZ (7) | Begin Seq (4) | End Seq (4) | SID (16) | HMAC (16)
//	Accept (1) | Finished (1) | MBZ (2) | Next Seqno (4) | Number of Skip Ranges (4) | Number of Records (4) | HMAC (16)
//	the Request-Session, its slots; skip ranges, zeros, HMAC (16); records, zeros, HMAC (16)
func (c *Control) Fetch(sid [16]byte, begin, end uint32) (f Fetched, err error) {
	const section = "RFC 4656 section 3.9"
	b := make([]byte, 32)
	b[0] = fetchSession
	binary.BigEndian.PutUint32(b[8:], begin)
	binary.BigEndian.PutUint32(b[12:], end)
	copy(b[16:], sid[:])
	if err := c.send(b); err != nil {
		return f, err
	}
	b, err = c.readMessage("Fetch-Ack", 16)
	if err != nil {
		return f, err
	}
	if err := zero(section, "MBZ of Fetch-Ack", b[2:4]); err != nil {
		return f, err
	}
	if b[0] != 0 {
		return f, &Refused{"Fetch-Ack", b[0]}
	}
	f.Finished, f.Next = b[1], binary.BigEndian.Uint32(b[4:])
	skips, records := binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
	if skips > 1e6 || records > 1e6 {
		return f, violated(section, "%d skip ranges and %d records", skips, records)
	}
	return f, first(c.fetchRequest(&f, sid), c.fetchSkips(&f, int(skips)), c.fetchRecords(&f, int(records), begin, end))
}

// fetchRequest reads the request as the server repeats it.
func (c *Control) fetchRequest(f *Fetched, sid [16]byte) error {
	const section = "RFC 4656 section 3.9"
	b, err := c.read(16)
	if err != nil {
		return err
	}
	if b[0] != requestSession {
		return violated(section, "session data begins with command %d, want the Request-Session", b[0])
	}
	if f.Request, err = c.readRequest(b); err != nil {
		return err
	}
	if f.Request.SID != sid {
		return violated(section, "the Request-Session has SID % x, want % x", f.Request.SID, sid)
	}
	return nil
}

// fetchSkips reads the skip ranges. Without any, there is only the HMAC.
func (c *Control) fetchSkips(f *Fetched, number int) error {
	const section = "RFC 4656 section 3.9"
	b, err := c.readMessage("the skip ranges", (number*8+15)&^15)
	if err != nil {
		return err
	}
	f.Skips, err = decodeSkips(section, b[:number*8], f.Next)
	return first(err, zero(section, "padding after skip ranges", b[number*8:]))
}

// fetchRecords reads the records.
func (c *Control) fetchRecords(f *Fetched, number int, begin, end uint32) error {
	const section = "RFC 4656 section 3.9"
	b, err := c.readMessage("the records", (number*recordLength+15)&^15)
	if err != nil {
		return err
	}
	for range number {
		r := decodeRecord(b)
		if r.Seq < begin || r.Seq > end {
			return violated(section, "a record of packet %d, when %d to %d was asked", r.Seq, begin, end)
		}
		if err := first(r.SendError.check(), r.ReceiveError.check()); err != nil {
			return err
		}
		for _, skip := range f.Skips {
			if skip.First <= r.Seq && r.Seq <= skip.Last {
				return violated(section, "a record of packet %d, which was skipped", r.Seq)
			}
		}
		f.Records = append(f.Records, r)
		b = b[recordLength:]
	}
	return zero(section, "padding after records", b)
}

func decodeRecord(b []byte) Record {
	return Record{binary.BigEndian.Uint32(b), ErrorEstimate(binary.BigEndian.Uint16(b[4:])), ErrorEstimate(binary.BigEndian.Uint16(b[6:])),
		Timestamp(binary.BigEndian.Uint64(b[8:])), Timestamp(binary.BigEndian.Uint64(b[16:])), b[24]}
}

func (r Record) encode() []byte {
	b := make([]byte, recordLength)
	binary.BigEndian.PutUint32(b, r.Seq)
	binary.BigEndian.PutUint16(b[4:], uint16(r.SendError))
	binary.BigEndian.PutUint16(b[6:], uint16(r.ReceiveError))
	binary.BigEndian.PutUint64(b[8:], uint64(r.Sent))
	binary.BigEndian.PutUint64(b[16:], uint64(r.Received))
	b[24] = r.TTL
	return b
}

// answerFetch reads what follows the first block of a Fetch-Session, and answers with what is known of the session, or refuses.
func (c *Control) answerFetch(start []byte, find func(sid [16]byte) (Fetched, bool)) error {
	rest, err := c.readMessage("Fetch-Session", 16)
	if err != nil {
		return err
	}
	if err := zero("RFC 4656 section 3.9", "MBZ of Fetch-Session", start[1:8]); err != nil {
		return err
	}
	begin, end := binary.BigEndian.Uint32(start[8:]), binary.BigEndian.Uint32(start[12:])
	f, found := find([16]byte(rest))
	ack := make([]byte, 16)
	if !found {
		ack[0] = 1
		return c.send(ack)
	}
	var records []byte
	number := uint32(0)
	for _, r := range f.Records {
		if begin <= r.Seq && r.Seq <= end {
			records = append(records, r.encode()...)
			number++
		}
	}
	ack[1] = f.Finished
	binary.BigEndian.PutUint32(ack[4:], f.Next)
	binary.BigEndian.PutUint32(ack[8:], uint32(len(f.Skips)))
	binary.BigEndian.PutUint32(ack[12:], number)
	if err := first(c.send(ack), c.sendRequest(f.Request)); err != nil {
		return err
	}
	return first(c.send(padded(appendSkips(nil, f.Skips))), c.send(padded(records)))
}

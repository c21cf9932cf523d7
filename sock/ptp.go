package sock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"
)

// ptpAddresses are where ptp4l answers questions of this machine's users: those of later releases first, and for each the socket that everybody
// may ask before the one that only root may.
var ptpAddresses = []string{"/run/ptp/ptp4lro", "/run/ptp4lro", "/run/ptp/ptp4l", "/run/ptp4l"}

// ptpWait is more than a daemon on the same machine takes for an answer. Where none listens, the kernel says so at once.
const ptpWait = 50 * time.Millisecond

// ptpCarried is added to what PTP says: ptp4l may keep the clock of an adapter, from which phc2sys carries the time over to the system's, and
// nobody tells how well. Its readings of both clocks are some microseconds apart at the most.
const ptpCarried = 10 * time.Microsecond

// What is needed of PTP's management messages (IEEE 1588-2008, 13.3 and 15.4): a question for the current data set, and its answer.
//
//	 0  message type 13 (1)  version 2 (1)  length (2)  domain (1)  zero (25)  sequence (2)  control 4 (1)  interval 127 (1)
//	34  target clock and port, all bits: any (10)  boundary hops (2)  action: 0 get, 2 response (1)  zero (1)
//	48  TLV type 1 (2)  its length (2)  data set 0x2001 (2)
//	54  steps removed from the grandmaster (2)  offset from master (8)  mean path delay (8), both in ns times 65536
const (
	ptpManagement     = 13
	ptpVersion        = 2
	ptpControl        = 4
	ptpInterval       = 0x7f
	ptpResponse       = 2
	ptpTLV            = 1
	ptpCurrentDataSet = 0x2001
	ptpNanosecond     = 1 << 16

	ptpSequenceAt = 30
	ptpTargetAt   = 34
	ptpActionAt   = 46
	ptpTLVAt      = 48
	ptpDataAt     = 54
	ptpLength     = ptpDataAt + 18
)

// askPTP asks ptp4l how far this machine's clock is from its master's.
func askPTP(address string) (ClockState, error) {
	own := &net.UnixAddr{Net: "unixgram", Name: fmt.Sprintf("@pathwise-ptp-%x", rand.Uint64())} // abstract: it leaves no file
	conn, err := net.DialUnix("unixgram", own, &net.UnixAddr{Net: "unixgram", Name: address})
	if err != nil {
		return ClockState{}, fmt.Errorf("ask ptp4l: %w", err)
	}
	defer conn.Close()
	sequence := uint16(rand.Uint32())
	answer := make([]byte, 1500)
	n := 0
	if err = conn.SetDeadline(time.Now().Add(ptpWait)); err == nil {
		if _, err = conn.Write(ptpQuestion(sequence)); err == nil {
			n, err = conn.Read(answer)
		}
	}
	if err != nil {
		return ClockState{}, fmt.Errorf("ask ptp4l: %w", err)
	}
	return parseCurrentDataSet(answer[:n], sequence)
}

// ptpQuestion asks for the current data set. PTP's data sets have lengths of their own: the question's is empty.
func ptpQuestion(sequence uint16) []byte {
	b := make([]byte, ptpDataAt)
	b[0], b[1] = ptpManagement, ptpVersion
	binary.BigEndian.PutUint16(b[2:], ptpDataAt)
	binary.BigEndian.PutUint16(b[ptpSequenceAt:], sequence)
	b[32], b[33] = ptpControl, ptpInterval
	for i := ptpTargetAt; i < ptpTargetAt+10; i++ {
		b[i] = 0xff
	}
	binary.BigEndian.PutUint16(b[ptpTLVAt:], ptpTLV)
	binary.BigEndian.PutUint16(b[ptpTLVAt+2:], 2)
	binary.BigEndian.PutUint16(b[ptpTLVAt+4:], ptpCurrentDataSet)
	return b
}

var (
	errNoDataSet = errors.New("read ptp4l's answer: want its current data set")
	errNoMaster  = errors.New("read ptp4l's answer: it follows no master")
)

// parseCurrentDataSet reads the answer to a question. What the clock is off is at most what PTP measured and, where one way takes all of the round
// trip, the mean path delay beside it.
func parseCurrentDataSet(b []byte, sequence uint16) (ClockState, error) {
	if len(b) < ptpLength || b[0]&0xf != ptpManagement || binary.BigEndian.Uint16(b[ptpSequenceAt:]) != sequence ||
		b[ptpActionAt]&0xf != ptpResponse || binary.BigEndian.Uint16(b[ptpTLVAt:]) != ptpTLV ||
		binary.BigEndian.Uint16(b[ptpTLVAt+4:]) != ptpCurrentDataSet {
		return ClockState{}, errNoDataSet
	}
	if binary.BigEndian.Uint16(b[ptpDataAt:]) == 0 {
		return ClockState{}, errNoMaster
	}
	interval := func(at int) time.Duration {
		return time.Duration(int64(binary.BigEndian.Uint64(b[at:])) / ptpNanosecond)
	}
	offset, delay := interval(ptpDataAt+2), interval(ptpDataAt+10)
	return ClockState{Synchronized: true, Source: "ptp", Estimated: offset.Abs(), Bound: offset.Abs() + delay.Abs() + ptpCarried}, nil
}

package sock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"time"
)

// chronyAddress is where chronyd answers questions of this machine's users (chrony.conf, cmdport), unless it was told not to.
const chronyAddress = "127.0.0.1:323"

// chronyWait is more than a daemon on the same machine takes for an answer. Where none listens, the kernel says so at once.
const chronyWait = 50 * time.Millisecond

// What is needed of version 6 of chrony's protocol (candm.h). A request is as long as the longest answer, so that nobody can be flooded by it.
//
//	request  | version : 8, type : 8, - : 16 | command : 16, attempt : 16 | sequence : 32 | - : 64 | padding |
//	answer   | version : 8, type : 8, - : 16 | command : 16, answer : 16 | status : 16, - : 48 | sequence : 32 | - : 64 | data |
//	data     | source : 32 | its address : 160 | stratum : 16, leap : 16 | when : 96 | correction, last offset, its mean, frequency,
//	           its rest, skew, root delay, root dispersion, since : 32 each |
const (
	chronyVersion  = 6
	chronyRequest  = 1
	chronyAnswer   = 2
	chronyTracking = 33
	trackingAnswer = 5
	chronyLength   = 416

	trackingData   = 28
	trackingLength = trackingData + 76
	leapAt         = trackingData + 26
	correctionAt   = trackingData + 40
	meanOffsetAt   = trackingData + 48
	rootDelayAt    = trackingData + 64
	dispersionAt   = trackingData + 68
	leapUnknown    = 3 // no source is followed
)

// askChrony asks chronyd how it keeps the clock.
func askChrony(address string) (ClockState, error) {
	conn, err := net.Dial("udp", address)
	if err != nil {
		return ClockState{}, fmt.Errorf("ask chrony: %w", err)
	}
	defer conn.Close()
	sequence := rand.Uint32()
	request := make([]byte, chronyLength)
	request[0], request[1] = chronyVersion, chronyRequest
	binary.BigEndian.PutUint16(request[4:], chronyTracking)
	binary.BigEndian.PutUint32(request[8:], sequence)
	answer := make([]byte, chronyLength)
	n := 0
	if err = conn.SetDeadline(time.Now().Add(chronyWait)); err == nil {
		if _, err = conn.Write(request); err == nil {
			n, err = conn.Read(answer)
		}
	}
	if err != nil {
		return ClockState{}, fmt.Errorf("ask chrony: %w", err)
	}
	return parseTracking(answer[:n], sequence)
}

var errNoTracking = errors.New("read chrony's answer: want one on tracking, of version 6")

// parseTracking reads an answer to the question of a sequence number. The bound is the one that chrony's manual gives.
func parseTracking(answer []byte, sequence uint32) (ClockState, error) {
	if len(answer) < trackingLength || answer[0] != chronyVersion || answer[1] != chronyAnswer ||
		binary.BigEndian.Uint16(answer[6:]) != trackingAnswer || binary.BigEndian.Uint16(answer[8:]) != 0 ||
		binary.BigEndian.Uint32(answer[16:]) != sequence {
		return ClockState{}, errNoTracking
	}
	seconds := func(at int) time.Duration {
		return time.Duration(chronyFloat(binary.BigEndian.Uint32(answer[at:])) * float64(time.Second))
	}
	c := ClockState{Source: "chrony", Pending: seconds(correctionAt)}
	if binary.BigEndian.Uint16(answer[leapAt:]) == leapUnknown {
		return c, nil
	}
	c.Synchronized, c.Estimated = true, seconds(meanOffsetAt)
	c.Bound = c.Pending.Abs() + seconds(rootDelayAt)/2 + seconds(dispersionAt)
	return c, nil
}

// chronyFloat decodes a number: seven bits of exponent and 25 of coefficient, both with a sign.
func chronyFloat(bits uint32) float64 {
	const coefficient = 25
	exponent := int(int32(bits) >> coefficient)
	value := int32(bits<<(32-coefficient)) >> (32 - coefficient)
	return math.Ldexp(float64(value), exponent-coefficient)
}

package probe

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"
)

// ntpScheme asks a time server (RFC 5905). The round trip is without the time that the server had the request, as it says. An answer that
// carries this request's stamp counts, even of a server that is not synchronised. A "kiss of death" (section 7.4) ends the run: the server
// asks to be left alone.
func ntpScheme() appScheme {
	return appScheme{name: schemeNTP, port: 123, ahead: 114, back: 114, remedy: "does a time server run there, and does it serve this host?",
		service: func(App) (appService, error) { return ntpService{}, nil }}
}

const schemeNTP = "ntp"

type ntpService struct{}

func (ntpService) exchange(ctx context.Context, to netip.AddrPort) (appAnswer, error) {
	nonce := rand.Uint64() // instead of the time, which is nobody's business and could be guessed
	var packet ntpPacket
	_, sent, came, err := askDatagram(ctx, to, ntpRequest(nonce), func(answer []byte) (is bool) {
		packet, is = parseNTP(answer)
		return is && packet.origin == nonce
	})
	if err != nil {
		return appAnswer{}, err
	}
	if packet.stratum == 0 {
		return appAnswer{}, &endOfApp{fmt.Sprintf("the server asks to be left alone (%s): ask less often, or another server", kissCode(packet.reference))}
	}
	reading, err := packet.reading(sent, came.Sub(sent))
	a := appAnswer{rtt: reading.roundTrip, said: fmt.Sprintf("stratum %d", packet.stratum), clock: &reading}
	if !reading.synchronised {
		a.said = "not synchronised"
	}
	return a, err
}

// ntpPacket is what counts of a server's answer.
//
//	 0                   1                   2                   3
//	|LI | VN  |Mode |    Stratum     |     Poll      |  Precision    |   0
//	|                          Root Delay                            |   4
//	|                       Root Dispersion                          |   8
//	|                         Reference ID                           |  12
//	|                   Reference Timestamp (64)                     |  16
//	|                     Origin Timestamp (64)                      |  24
//	|                    Receive Timestamp (64)                      |  32
//	|                    Transmit Timestamp (64)                     |  40
type ntpPacket struct {
	leap, stratum      byte
	rootDelay          time.Duration // to the primary source and back
	rootDispersion     time.Duration // the most that the server may be off beside that
	reference          [4]byte
	origin             uint64 // the request's transmit stamp
	received, answered uint64 // in seconds and their 2^-32 parts, since 1900
}

// Fields of NTP packets.
const (
	ntpBytes      = 48
	ntpVersion    = 4
	ntpClient     = 3 // modes
	ntpServer     = 4
	ntpUnknown    = 3  // leap indicator of a server whose clock is not synchronised
	ntpUnsyncedAt = 16 // stratum of one
)

func ntpRequest(nonce uint64) []byte {
	b := make([]byte, ntpBytes)
	b[0] = ntpVersion<<3 | ntpClient
	binary.BigEndian.PutUint64(b[40:], nonce)
	return b
}

// parseNTP reads a server's packet; false of anything else.
func parseNTP(b []byte) (p ntpPacket, is bool) {
	if len(b) < ntpBytes || b[0]&7 != ntpServer {
		return p, false
	}
	short := func(at int) time.Duration { return time.Duration(binary.BigEndian.Uint32(b[at:])) * time.Second >> 16 }
	return ntpPacket{leap: b[0] >> 6, stratum: b[1], rootDelay: short(4), rootDispersion: short(8), reference: [4]byte(b[12:16]),
		origin: binary.BigEndian.Uint64(b[24:]), received: binary.BigEndian.Uint64(b[32:]), answered: binary.BigEndian.Uint64(b[40:])}, true
}

// kissCode is the word for people that a kiss of death has in place of a reference.
func kissCode(reference [4]byte) string {
	for _, c := range reference {
		if c < ' ' || c > '~' {
			return fmt.Sprintf("%x", reference)
		}
	}
	return string(reference[:])
}

// ntpReading is what an exchange tells of the server's clock (RFC 5905 section 8).
type ntpReading struct {
	roundTrip    time.Duration // on the path: without what the server had the request
	ahead        time.Duration // what the way there took as both clocks showed it: what the server's is ahead, and that way's delay
	stratum      int
	synchronised bool
	root         time.Duration // the most that the server's own clock is off, as it says: half the root delay, and the root dispersion
}

// reading compares the clocks. sent is by the near one; took is from there until the answer came. The error is of stamps that cannot be.
func (p ntpPacket) reading(sent time.Time, took time.Duration) (ntpReading, error) {
	held := ntpSpan(p.received, p.answered)
	if held < 0 || held > took {
		return ntpReading{}, fmt.Errorf("the server says that it had the request for %v, of the %v until its answer came", held, took)
	}
	return ntpReading{roundTrip: took - held, ahead: ntpTime(p.received, sent).Sub(sent.Round(0)), stratum: int(p.stratum),
		root: p.rootDelay/2 + p.rootDispersion, synchronised: p.leap != ntpUnknown && p.stratum < ntpUnsyncedAt}, nil
}

// offset is how far the server's clock is ahead if both ways took the same time, and the most that this is wrong by.
func (r ntpReading) offset() (offset, within time.Duration) {
	return r.ahead - r.roundTrip/2, r.roundTrip / 2
}

// ntpSpan is the time from one stamp to another, which may be less than 0.
func ntpSpan(from, to uint64) time.Duration {
	const part = 32 // bits of a second
	span := int64(to - from)
	return time.Duration(span>>part)*time.Second + time.Duration((span&(1<<part-1))*int64(time.Second)>>part)
}

// ntpTime is a stamp as a time: of the era that is nearest to another time (RFC 5905 section 6).
func ntpTime(stamp uint64, near time.Time) time.Time {
	const to1970 = 2_208_988_800 // seconds from 1900
	seconds := int32(uint32(stamp>>32) - uint32(near.Unix()+to1970))
	nanos := (stamp & (1<<32 - 1)) * 1_000_000_000 >> 32
	return time.Unix(near.Unix()+int64(seconds), int64(nanos))
}

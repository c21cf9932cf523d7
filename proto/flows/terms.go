package flows

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/traffic"
)

// TooMuchError is a test that asks for more than the responder allows.
type TooMuchError struct{ Asked, Allowed Ask }

func (e *TooMuchError) Error() string {
	return fmt.Sprintf("a script of %v, %d packets and up to %.3g Mbit/s was refused: the responder lets one have %v, %d packets and %.3g Mbit/s",
		e.Asked.Longest, e.Asked.Packets, e.Asked.Rate/1e6, e.Allowed.Longest, e.Allowed.Packets, e.Allowed.Rate/1e6)
}

// Ask is how much a test is.
type Ask struct {
	Longest time.Duration // from its beginning to its account
	Packets int
	Rate    float64 // bit/s, the most in any second
}

// within reports whether a test is no more than another.
func (a Ask) within(limit Ask) bool {
	return a.Longest <= limit.Longest && a.Packets <= limit.Packets && a.Rate <= limit.Rate
}

// Terms are what a client is about to do and asks the server to send, and no more than that.
type Terms struct {
	Longest   time.Duration
	Linger    time.Duration // that late datagrams are waited for, after the last was sent
	Rate      float64       // bit/s, the most that goes one way in any second
	Flows     []traffic.FlowLoad
	Interval  time.Duration // into which the script is divided, and how many they are
	Intervals int
	Script    string // of which the server sends the flows in reverse; "": there are none
	Turned    bool   // each flow of Script goes the other way
}

// TermsOf are those of a script that was read from a text, and turned around if turned. setup is what the test may take beside the script and the time
// for late datagrams. Errors are of package input.
func TermsOf(script *traffic.Script, text string, turned bool, linger, setup time.Duration) (Terms, error) {
	load, err := script.Load()
	if err != nil {
		return Terms{}, err
	}
	t := Terms{Longest: script.Duration() + traffic.MostLate + linger + setup, Linger: linger, Rate: max(load.Peak, load.ReversePeak), Flows: load.Flows,
		Interval: script.Interval(), Intervals: script.Intervals()}
	if script.Goes(true) {
		t.Script, t.Turned = text, turned
	}
	return t, nil
}

// reversed is the script of which a server sends the flows in reverse, as the terms have them; nil: there are none. What the client replays is not
// known here and not needed. Errors are of package input.
func (t Terms) reversed() (*traffic.Script, error) {
	if t.Script == "" {
		return nil, nil
	}
	unknown := func(string, int) ([]traffic.Recorded, error) { return make([]traffic.Recorded, 1), nil }
	script, err := traffic.Parse(t.Script, unknown)
	if err == nil && t.Turned {
		err = script.Turn()
	}
	if err != nil {
		return nil, err
	}
	load, err := script.Load()
	if err != nil {
		return nil, err
	}
	if len(script.Flows) != len(t.Flows) || load.ReversePeak > t.Rate+1 {
		return nil, input.Errorf("script: it is of %d flows and %.0f bit/s, the terms have %d and %.0f", len(script.Flows), load.ReversePeak, len(t.Flows), t.Rate)
	}
	if covered := t.Interval * time.Duration(t.Intervals); covered < script.Duration() { // a capture that the client replays may last longer
		return nil, input.Errorf("script: it lasts %v, the terms have intervals of %v", script.Duration(), covered)
	}
	for i, f := range script.Flows {
		if f.Reverse && load.Flows[i] != t.Flows[i] {
			return nil, input.Errorf("script: flow %s has %d packets, the terms have %d", f.Name, load.Flows[i].Packets, t.Flows[i].Packets)
		}
	}
	return script, nil
}

func (t Terms) ask() Ask {
	a := Ask{Longest: t.Longest, Rate: t.Rate}
	for _, f := range t.Flows {
		a.Packets += f.Packets
	}
	return a
}

// Validate reports the first of the terms that cannot be, as an error of package input.
func (t Terms) Validate() error {
	switch {
	case len(t.Flows) < 1 || len(t.Flows) > traffic.MostFlows:
		return input.Errorf("flows %d: want 1 to %d", len(t.Flows), traffic.MostFlows)
	case t.Longest < time.Millisecond || t.Longest > traffic.MostTime+mostLinger+time.Minute:
		return input.Errorf("time %v: want 1ms to %v", t.Longest, traffic.MostTime)
	case t.Linger < 0 || t.Linger > mostLinger:
		return input.Errorf("linger %v: want 0 to %v", t.Linger, mostLinger)
	case t.ask().Packets > traffic.MostPackets:
		return input.Errorf("packets %d: want at most %d", t.ask().Packets, traffic.MostPackets)
	case t.Intervals < 1 || t.Intervals > traffic.MostIntervals || t.Interval < time.Millisecond:
		return input.Errorf("intervals %d of %v: want 1 to %d", t.Intervals, t.Interval, traffic.MostIntervals)
	case len(t.Script) > traffic.MostText:
		return input.Errorf("script: %d bytes, want at most %d", len(t.Script), traffic.MostText)
	}
	return nil
}

// turned is a flag of a hello: each flow of the script goes the other way.
const turned = 1

// 0 magic | 8 secret | 44 flows:16 | 46 flags:8 | 47 intervals:8 | 48 longest, ms | 52 linger, ms | 56 rate, bit/s:64 | 64 bytes of script:32
// | 68 interval, ms:32
// of each flow: packets:32 | bytes:64
// the script
func encodeHello(secret string, t Terms) []byte {
	b := make([]byte, helloBytes, helloBytes+termBytes*len(t.Flows)+len(t.Script))
	copy(b, magic)
	copy(b[8:8+SecretBytes], secret)
	binary.BigEndian.PutUint16(b[44:], uint16(len(t.Flows)))
	if t.Turned {
		b[46] = turned
	}
	b[47] = byte(t.Intervals)
	binary.BigEndian.PutUint32(b[48:], uint32(t.Longest.Milliseconds()))
	binary.BigEndian.PutUint32(b[52:], uint32(t.Linger.Milliseconds()))
	binary.BigEndian.PutUint64(b[56:], uint64(t.Rate))
	binary.BigEndian.PutUint32(b[64:], uint32(len(t.Script)))
	binary.BigEndian.PutUint32(b[68:], uint32(t.Interval.Milliseconds()))
	for _, f := range t.Flows {
		b = binary.BigEndian.AppendUint32(b, uint32(f.Packets))
		b = binary.BigEndian.AppendUint64(b, uint64(f.Bytes))
	}
	return append(b, t.Script...)
}

// restOf is how many bytes follow a hello: the terms of its flows, and its script; 0: it is none of this protocol, or has too many.
func restOf(hello []byte) int {
	flows, script := int(binary.BigEndian.Uint16(hello[44:])), binary.BigEndian.Uint32(hello[64:])
	if !bytes.HasPrefix(hello, magic) || flows > traffic.MostFlows || script > traffic.MostText {
		return 0
	}
	return termBytes*flows + int(script)
}

// decodeHello reads a hello and what follows it, restOf bytes.
func decodeHello(b, rest []byte) (secret string, t Terms, err error) {
	ms := func(at int) time.Duration { return time.Duration(binary.BigEndian.Uint32(b[at:])) * time.Millisecond }
	t = Terms{Longest: ms(48), Linger: ms(52), Rate: float64(binary.BigEndian.Uint64(b[56:])), Intervals: int(b[47]), Interval: ms(68), Turned: b[46] == turned}
	for range binary.BigEndian.Uint16(b[44:]) {
		t.Flows = append(t.Flows, traffic.FlowLoad{Packets: int(binary.BigEndian.Uint32(rest)), Bytes: int64(binary.BigEndian.Uint64(rest[4:]))})
		rest = rest[termBytes:]
	}
	t.Script = string(rest)
	return string(bytes.TrimRight(b[8:8+SecretBytes], "\x00")), t, t.Validate()
}

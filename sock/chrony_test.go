package sock

import (
	"encoding/binary"
	"math"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// trackingOf is an answer of chronyd to a request.
func trackingOf(request []byte, leap uint16, correction, mean, delay, dispersion uint32) []byte {
	a := make([]byte, trackingLength+4)
	a[0], a[1] = 6, 2
	copy(a[4:6], request[4:6])
	a[7] = 5
	copy(a[16:20], request[8:12])
	binary.BigEndian.PutUint16(a[54:], leap)
	for at, v := range map[int]uint32{68: correction, 76: mean, 92: delay, 96: dispersion} {
		binary.BigEndian.PutUint32(a[at:], v)
	}
	return a
}

// chronyd is a socket that answers each request as a function says; nil: not at all.
func chronyd(t *testing.T, answer func(request []byte) []byte) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buffer := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			if a := answer(buffer[:n]); a != nil && n == chronyLength {
				_, _ = conn.WriteTo(a, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}

// The numbers are -2^-10 s, 2^-20 s, 2^-5 s and 2^-11 s: the coefficient is 2^23, or minus that.
const (
	minusMilli = uint32(-8+128)<<25 | uint32(1<<25-1<<23)
	micro      = uint32(-18+128)<<25 | 1<<23
	thirtieth  = uint32(-3+128)<<25 | 1<<23
	halfMilli  = uint32(-9+128)<<25 | 1<<23
)

func TestAskChrony(t *testing.T) {
	second := float64(time.Second)
	kept := ClockState{Synchronized: true, Source: "chrony", Pending: -time.Duration(second / 1024), Estimated: time.Duration(second / (1 << 20)),
		Bound: time.Duration(second/1024) + time.Duration(second/32)/2 + time.Duration(second/2048)}
	for name, c := range map[string]struct {
		answer func(request []byte) []byte
		want   ClockState
		fails  bool
	}{
		"kept":        {func(r []byte) []byte { return trackingOf(r, 0, minusMilli, micro, thirtieth, halfMilli) }, kept, false},
		"no source":   {func(r []byte) []byte { return trackingOf(r, 3, 0, 0, 0, 0) }, ClockState{Source: "chrony"}, false},
		"silence":     {func([]byte) []byte { return nil }, ClockState{}, true},
		"cut off":     {func(r []byte) []byte { return trackingOf(r, 0, 0, 0, 0, 0)[:100] }, ClockState{}, true},
		"not allowed": {func(r []byte) []byte { a := trackingOf(r, 0, 0, 0, 0, 0); a[9] = 2; return a }, ClockState{}, true},
		"to another":  {func(r []byte) []byte { a := trackingOf(r, 0, 0, 0, 0, 0); a[16]++; return a }, ClockState{}, true},
		"version 5":   {func(r []byte) []byte { a := trackingOf(r, 0, 0, 0, 0, 0); a[0] = 5; return a }, ClockState{}, true},
	} {
		got, err := askChrony(chronyd(t, c.answer))
		if diff := cmp.Diff(c.want, got); diff != "" || (err != nil) != c.fails {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	if f := chronyFloat(minusMilli); math.Abs(f+1./1024) > 1e-15 {
		t.Errorf("%v, want -1/1024", f)
	}
}

func TestKernelClock(t *testing.T) {
	for name, c := range map[string]struct {
		state int
		timex unix.Timex
		want  ClockState
	}{
		"kept": {unix.TIME_OK, unix.Timex{Maxerror: 1500, Esterror: 20, Offset: -7, Status: unix.STA_PLL},
			ClockState{Synchronized: true, Bound: 1500 * time.Microsecond, Estimated: 20 * time.Microsecond, Pending: -7 * time.Microsecond, Source: "kernel"}},
		"by a pulse": {unix.TIME_OK, unix.Timex{Maxerror: 2, Offset: 300, Status: unix.STA_NANO | unix.STA_PPSSIGNAL},
			ClockState{Synchronized: true, Bound: 2 * time.Microsecond, Pending: 300, Source: "kernel", PPS: true}},
		"let run":          {unix.TIME_OK, unix.Timex{Maxerror: 16, Status: unix.STA_UNSYNC}, ClockState{Source: "kernel"}},
		"the kernel knows": {unix.TIME_ERROR, unix.Timex{Maxerror: 16}, ClockState{Source: "kernel"}},
	} {
		if diff := cmp.Diff(c.want, kernelClock(c.state, &c.timex)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

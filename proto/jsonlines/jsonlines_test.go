package jsonlines

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/sock/socktest"
)

// What one end says the other hears, a line at a time, and none that is too long.
func TestSayAndHear(t *testing.T) {
	one, other := socktest.Connected(t, "127.0.0.1")
	says, hears := Begin(one, time.Minute, 64), Begin(other, time.Minute, 64)
	if err := errors.Join(says.Say(map[string]int{"a": 1}), says.Say("b"), says.Say(strings.Repeat("c", 64))); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"{\"a\":1}\n", "\"b\"\n"} {
		if line, err := hears.Hear(); string(line) != want || err != nil {
			t.Errorf("heard %q, %v; want %q", line, err, want)
		}
	}
	if _, err := hears.Hear(); err == nil || !strings.Contains(err.Error(), "more than 64 bytes") {
		t.Errorf("a long line: %v", err)
	}
	if err := says.Say(make(chan int)); err == nil {
		t.Error("what is no JSON is said")
	}
}

// Who closes, is silent for too long or says anything else speaks another protocol.
func TestHearAnswer(t *testing.T) {
	for says, want := range map[string]error{"": ErrOther, "SSH-2.0-OpenSSH\r\n": ErrOther, "{}\n": nil} {
		one, other := socktest.Connected(t, "127.0.0.1")
		_, _ = io.WriteString(other, says)
		other.Close()
		if _, err := Begin(one, time.Minute, 64).HearAnswer(); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", says, err, want)
		}
	}
	silent, _ := socktest.Connected(t, "127.0.0.1")
	if _, err := Begin(silent, time.Millisecond, 64).HearAnswer(); !errors.Is(err, ErrOther) {
		t.Errorf("silence: %v", err)
	}
}

// The last message arrives though the other end's was not read, and who stays silent holds nobody up for long.
func TestSayLast(t *testing.T) {
	one, other := socktest.Connected(t, "127.0.0.1")
	_, _ = io.WriteString(other, "unread\n")
	_ = other.(*net.TCPConn).CloseWrite()
	c := Begin(one, time.Minute, 64)
	c.SayLast("over")
	c.Close()
	if all, err := io.ReadAll(other); string(all) != "\"over\"\n" || err != nil {
		t.Errorf("heard %q, %v", all, err)
	}
}

// What waits for the end returns as the other end closes, or when it may wait no longer.
func TestAwaitEnd(t *testing.T) {
	one, other := socktest.Connected(t, "127.0.0.1")
	c := Begin(one, time.Minute, 64)
	ended := make(chan struct{})
	go func() { c.AwaitEnd(); close(ended) }()
	other.Close()
	<-ended
	one, _ = socktest.Connected(t, "127.0.0.1")
	c = Begin(one, time.Millisecond, 64)
	c.AwaitEnd()
	if _, err := c.Hear(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the time is over: %v", err)
	}
}

func TestCookies(t *testing.T) {
	if a, b := NewCookie(), NewCookie(); a == b || CheckCookie(a) != nil || CheckCookie(b) != nil {
		t.Errorf("%q and %q", a, b)
	}
	for _, bad := range []string{"", "6f", strings.Repeat("g", CookieDigits), strings.Repeat("f", CookieDigits+2)} {
		if CheckCookie(bad) == nil {
			t.Errorf("%q is a cookie", bad)
		}
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{"": "", "no route": "no route", "a\x1b[2J\nb": "a.[2J.b", strings.Repeat("x", 99): strings.Repeat("x", mostText)} {
		if got := Printable(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

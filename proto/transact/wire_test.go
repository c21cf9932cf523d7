package transact

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/input"
)

const secret = "abcdefghijklmnopqrstuvwxyz0123456789"

var terms = Terms{Exchanges: 3, Request: 100, Answer: 200, Longest: 5 * time.Second}

// What one end writes, the other reads.
func TestMessages(t *testing.T) {
	for _, want := range []hello{{secret, terms}, {"", Terms{MostExchanges, MostBytes, 1, mostTime, AcksDelayed}}} {
		b := want.encode()
		got, err := decodeHello(b)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(hello{})); diff != "" || err != nil || len(b) != helloBytes || !isHello(b) {
			t.Errorf("hello: %v (-want +got):\n%s", err, diff)
		}
	}
	for _, want := range []welcome{{verdict: goAhead, acks: AcksAtOnce, number: number{1, 15: 9}}, {verdict: tooLong, longest: time.Minute}} {
		if got, err := decodeWelcome(want.encode()); err != nil || got != want {
			t.Errorf("welcome: %+v, %v; want %+v", got, err, want)
		}
	}
	account := Account{Exchanges: 3, GatherMean: 1, GatherMost: 2, AnswerMean: 3, AnswerMost: 4, Retransmits: 5}
	if got, err := decodeAccount(account.encode()); err != nil || got != account {
		t.Errorf("account: %+v, %v; want %+v", got, err, account)
	}
	b := make([]byte, 40)
	encodeRequest(b, number{7}, 50)
	if n, request, answer := decodeRequest(b); n != (number{7}) || request != 40 || answer != 50 {
		t.Errorf("request: %v, %d, %d", n, request, answer)
	}
}

// Messages of others are known as such, and numbers that cannot be are not believed.
func TestForeignMessages(t *testing.T) {
	for what, err := range map[string]error{
		"welcome": second(decodeWelcome(bytes.Repeat([]byte("H"), welcomeBytes))),
		"account": second(decodeAccount(bytes.Repeat([]byte("H"), accountBytes))),
		"counts":  second(decodeAccount(append([]byte("PWtrans1"), bytes.Repeat([]byte{255}, accountBytes-8)...))),
	} {
		if !errors.Is(err, errForeign) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestTermsAreBounded(t *testing.T) {
	for want, change := range map[string]func(*Terms){
		"exchanges 0":    func(t *Terms) { t.Exchanges = 0 },
		"exchanges 8640": func(t *Terms) { t.Exchanges = MostExchanges + 1 },
		"request 23":     func(t *Terms) { t.Request = 23 },
		"request 167":    func(t *Terms) { t.Request = MostBytes + 1 },
		"answer 0":       func(t *Terms) { t.Answer = 0 },
		"time 0s":        func(t *Terms) { t.Longest = 0 },
		"time 25h":       func(t *Terms) { t.Longest = 25 * time.Hour },
		"acks 3":         func(t *Terms) { t.Acks = 3 },
	} {
		these := terms
		change(&these)
		if err := these.Validate(); err == nil || !input.Bad(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s…", err, want)
		}
	}
	if err := terms.Validate(); err != nil {
		t.Error(err)
	}
	for _, s := range []string{"", "short", strings.Repeat("ä", 18), strings.Repeat(" ", 36)} {
		if CheckSecret(s) == nil {
			t.Errorf("%q is a secret", s)
		}
	}
}

// Whatever comes, reading it ends, and what can be read is what would be written again.
func FuzzHello(f *testing.F) {
	f.Add(hello{secret, terms}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < helloBytes || !isHello(b) {
			return
		}
		if h, err := decodeHello(b[:helloBytes]); err == nil {
			if again, err := decodeHello(h.encode()); err != nil || again != h {
				t.Errorf("%+v, then %+v, %v", h, again, err)
			}
		}
	})
}

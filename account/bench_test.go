package account

import (
	"fmt"
	"net/netip"
	"os"
	"testing"
)

// BenchmarkVerify is one attempt to sign in, with the cost that a controller's has.
func BenchmarkVerify(b *testing.B) {
	book, err := Open(b.TempDir(), Options{})
	must(b, err)
	defer book.Close()
	newPerson(b, book, "ann", Viewer)
	for name, password := range map[string]string{"right": phrase, "nobody": other} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				who := map[string]string{"right": "ann", "nobody": fmt.Sprint("nobody", n)}[name]
				from := netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
				_, err := book.verify(b.Context(), who, password, from)
				if (err == nil) != (name == "right") {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkToken is what each call of the API costs that has a token, or a session.
func BenchmarkToken(b *testing.B) {
	book := openBook(b, b.TempDir(), newClock())
	newPerson(b, book, "ann", Operator)
	session := signIn(b, book, "ann", phrase, office)
	var token string
	for n := range 100 {
		var err error
		token, err = book.NewToken(owner, TokenSpec{Name: fmt.Sprint("t", n), Scopes: []Scope{Read}})
		must(b, err)
	}
	for name, check := range map[string]func() error{
		"stat":    func() error { _, err := os.Stat(book.contents.path); return err }, // what the others are held against
		"token":   func() error { _, err := book.Token(token); return err },
		"session": func() error { _, err := book.Session(session); return err },
		"unknown": func() error {
			if _, err := book.Token(session); err == nil {
				return fmt.Errorf("a session as a token")
			}
			return nil
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(b, check())
			}
		})
	}
}

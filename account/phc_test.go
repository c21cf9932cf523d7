package account

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reference is a test vector of the reference implementation (phc-winner-argon2, test.c): "password", "somesalt".
const reference = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"

func TestHash(t *testing.T) {
	h, err := parseHash(reference)
	must(t, err)
	if !h.matches("password") || h.matches("Password") || h.matches("") {
		t.Error("the reference's hash does not match its password alone")
	}
	if h.String() != reference {
		t.Errorf("%s, want %s", h, reference)
	}
	a, err := newHash(rand.Reader, cheap, phrase)
	must(t, err)
	b, err := newHash(rand.Reader, cheap, phrase)
	must(t, err)
	if !a.matches(phrase) || !b.matches(phrase) || a.String() == b.String() {
		t.Errorf("%s, %s: want two hashes of one password, with salts of their own", a, b)
	}
}

func TestUsualCost(t *testing.T) {
	h, err := newHash(rand.Reader, usualCost, phrase)
	must(t, err)
	if !strings.HasPrefix(h.String(), "$argon2id$v=19$m=65536,t=3,p=1$") || !h.matches(phrase) {
		t.Errorf("%s: want 64 MiB, 3 passes, 1 lane, as docs/accounts.md says", h)
	}
}

func TestParseHashRefuses(t *testing.T) {
	change := func(old, new string) string { return strings.Replace(reference, old, new, 1) }
	for _, bad := range []string{
		"", "$", "x" + reference, reference + "$", change("argon2id", "argon2i"), change("v=19", "v=16"),
		change("m=256", "m=7"), change("m=256", "m=0256"), change("m=256", "m=4294967296"), change("m=256", "m=2000000"),
		change("t=2", "t=0"), change("t=2", "t=1000"), change("t=2,", ""), change("p=1", "p=0"), change("p=1", "p=17"),
		change("p=1", "q=1"), change("m=256,t=2", "t=2,m=256"), change("c29tZXNhbHQ", ""), change("c29tZXNhbHQ", "c29tZXNhbHQ=="),
		change("c29tZXNhbHQ", strings.Repeat("c29t", 30)), change("Gi/4", "Gi/5"), change("Gi/4", "Gi\n/4"),
	} {
		if h, err := parseHash(bad); err == nil {
			t.Errorf("%q gives %s", bad, h)
		}
	}
}

func FuzzParseHash(f *testing.F) {
	f.Add(reference)
	f.Add("$argon2id$v=19$m=65536,t=3,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parseHash(text)
		if err != nil {
			return
		}
		if h.String() != text {
			t.Errorf("%q is written as %q", text, h)
		}
		if h.kib > mostKiB || h.passes > mostPasses || h.lanes > mostLanes || len(h.salt) > mostSalt || len(h.key) > mostKey {
			t.Errorf("%q asks for too much", text)
		}
	})
}

func TestCheckPassword(t *testing.T) {
	for _, c := range []struct {
		name, password string
		ok             bool
	}{
		{"ann", phrase, true},
		{"ann", "ÄÖÜäöüßéèêëë", true}, // 12 characters
		{"ann", "lowercaseonly", true},
		{"ann", strings.Repeat("a long phrase ", 73), true}, // 1022 bytes
		{"ann", "", false},
		{"ann", "11charsonly", false},
		{"ann", "éèêëéèêëéèê", false}, // more bytes than 12, fewer characters
		{"ann", strings.Repeat("a long phrase ", 74), false},
		{"ann", "password1234", false},
		{"ann", "QwertyUiop123", false},
		{"annabel.longname", "annabel.longname", false},
		{"annabel.longname", "Annabel.Longname2026", false},
		{"annabel.longname", "annabel.longname likes tea", true},
		{"ann", "pathwise2026", false},
		{"ann", "ßßßßßßßßßßßßßßßß", false},
		{"ann", "annannannann", false},
		{"ann", "twelve bytes\xff", false},
	} {
		err := CheckPassword(c.name, c.password)
		if (err == nil) != c.ok {
			t.Errorf("%s, %.40q: %v, want ok %v", c.name, c.password, err, c.ok)
		}
		if err != nil && c.password != "" && strings.Contains(err.Error(), c.password) && !strings.EqualFold(c.password, c.name) {
			t.Errorf("%q is in its error: %v", c.password, err)
		}
	}
}

func TestCommonPasswordsAreReached(t *testing.T) {
	for _, p := range common {
		if len(p) < ShortestPassword || p != strings.ToLower(p) {
			t.Errorf("%q is too short, or not in lower case: it is never compared", p)
		}
	}
	if diff := cmp.Diff(len(common), len(unique(common))); diff != "" {
		t.Errorf("some are there twice: %s", diff)
	}
}

func unique(texts []string) map[string]bool {
	m := map[string]bool{}
	for _, s := range texts {
		m[s] = true
	}
	return m
}

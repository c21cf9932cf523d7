package fleet

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A host joins by an invitation, once, and its keys open the NATS server. Whoever shows anything else hears one line, and is no host.
func TestJoin(t *testing.T) {
	t.Parallel()
	keys := testKeyring(t)
	s, _ := testServer(t, keys, "127.0.0.1:0", nil)
	now := time.Now()
	v := &Invitations{now: func() time.Time { return now }}
	invite := func() *Invitation {
		t.Helper()
		i, until, err := v.New(keys, s.Addr().String(), "ann")
		if err != nil || until.Sub(now) != InvitationLasts {
			t.Fatal(until, err)
		}
		read, err := ParseInvitation(i.Text() + "\n")
		if diff := cmp.Diff(i, read, cmp.AllowUnexported(Invitation{})); err != nil || diff != "" {
			t.Fatalf("%v, (-made +read):\n%s", err, diff)
		}
		return read
	}
	join := func(i *Invitation, name string) (string, error) {
		c, err := i.Join(t.Context(), name, netip.MustParseAddr("127.0.0.5"))
		if err != nil {
			return "", err
		}
		return c.Host, nil
	}
	refused := func(what string, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}

	first := invite()
	_, err := join(first, "dl")
	refused("before anybody may join", err, "takes no hosts by invitation")
	var came []Applicant
	full := errors.New("the disk is full")
	s.Let(&Joining{Invitations: v, Admit: func(_ context.Context, a Applicant) (*Credentials, error) {
		if came = append(came, a); len(came) == 1 {
			return nil, full
		}
		c, err := keys.Issue(a.Name, keys.Embedded(s.Addr().String()))
		if err != nil {
			return nil, err
		}
		agents, err := keys.Agents()
		if err != nil {
			return nil, err
		}
		return c, s.SetAgents(agents)
	}})
	_, err = join(first, "dl")
	refused("the controller cannot", err, full.Error())
	c, err := first.Join(t.Context(), "dl", netip.MustParseAddr("127.0.0.5"))
	if err != nil {
		t.Fatalf("an invitation that was not used up: %v", err)
	}
	dl := Applicant{Name: "dl", Address: netip.MustParseAddr("127.0.0.5"), By: "ann"}
	if diff := cmp.Diff([]Applicant{dl, dl}, came, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("who came (-want +got):\n%s", diff)
	}
	m := &mesh{keys: keys, archive: newTestArchive()}
	m.serve(t, HubConfig{Keys: keys, Server: s, Log: testLog(t)})
	link, err := NewLink(LinkConfig{Credentials: c, Log: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = newTestAgent(c.Host, link).run(t.Context(), link) }()
	m.archive.until(t, "the host that joined is there", func() bool { return m.archive.status["dl"].Host != "" })

	_, err = join(first, "ral")
	refused("used", err, "this invitation was used by host dl; each is good for one")
	_, err = join(invite(), "ral\nall")
	refused("a name that is none", err, "want letters, digits")
	late := invite()
	now = now.Add(InvitationLasts)
	_, err = join(late, "ral")
	refused("an hour later", err, "older than an hour")
	wrong := *invite()
	wrong.secret = strings.Map(func(r rune) rune { // another letter in each place
		if r == 'A' {
			return 'B'
		}
		return 'A'
	}, first.secret)
	_, err = join(&wrong, "ral")
	refused("a wrong secret", err, "no such invitation")
	wrong = *invite()
	wrong.pin[0]++
	_, err = join(&wrong, "ral")
	refused("another controller's", err, "is not the controller that made the invitation")
	if len(came) != 2 {
		t.Errorf("%d were asked to be admitted, want 2", len(came))
	}
}

// Of many hosts that show one invitation at a time, one gets in.
func TestInvitationIsGoodOnce(t *testing.T) {
	t.Parallel()
	v := &Invitations{}
	i, _, err := v.New(testKeyring(t), "192.0.2.1:4222", "ann")
	if err != nil {
		t.Fatal(err)
	}
	err = v.use(i.secret, func(string) (string, error) {
		return "ucl", v.use(i.secret, func(string) (string, error) { t.Error("two got in"); return "ral", nil })
	})
	if !errors.Is(err, errInvitationBusy) {
		t.Errorf("shown while it is being used: %v", err)
	}
	for range maxInvitations {
		if _, _, err := v.New(testKeyring(t), "192.0.2.1:4222", "ann"); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.use(i.secret, func(string) (string, error) { return "ucl", nil }); !errors.Is(err, errInvitationUnknown) {
		t.Errorf("the oldest of too many: %v", err)
	}
}

// What is no invitation is told in a line that has no secret in it.
func TestParseInvitation(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("s", 43)
	for text, want := range map[string]string{
		"":                                       "want the whole text",
		"pathwise ":                              "want the whole text",
		"pathwise-join:192.0.2.1:4222/" + secret: "want the whole text",
		"pathwise-join:192.0.2.1/" + secret + "/" + secret:                  `address "192.0.2.1": want ADDRESS:PORT`,
		"pathwise-join:192.0.2.1:4222/" + secret[1:] + "/" + secret:         "its secret is not whole",
		"pathwise-join:192.0.2.1:4222/" + secret + "/" + secret[:20]:        "its end is not whole",
		"pathwise-join:192.0.2.1:4222/" + secret + "/" + secret + "/" + "a": "want the whole text",
	} {
		if i, err := ParseInvitation(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sss") {
			t.Errorf("%q: %v, %v, want %q", text, i, err, want)
		}
	}
}

package fleet

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

// Invitation lets one host join a mesh once. It says where the controller listens and by which certificate authority the host knows it,
// so that the two need nothing else between them, and nobody on the way can stand in for either.
type Invitation struct {
	Address string   // HOST:PORT of the controller's server
	secret  string   // 32 random bytes in base64url
	pin     [32]byte // SHA-256 of the authority's certificate
}

// invitationPrefix begins each invitation, so that people and programs that search for leaked secrets know what it is.
const invitationPrefix = "pathwise-join:"

// Text is what a person copies; it is a secret until it is used.
func (i *Invitation) Text() string {
	return invitationPrefix + i.Address + "/" + i.secret + "/" + base64.RawURLEncoding.EncodeToString(i.pin[:])
}

// LogValue keeps the secret out of what slog writes.
func (i *Invitation) LogValue() slog.Value { return slog.StringValue("invitation of " + i.Address) }

// ParseInvitation reads what Text wrote. Its errors do not repeat the text, which may hold a secret.
func ParseInvitation(text string) (*Invitation, error) {
	rest, begins := strings.CutPrefix(strings.TrimSpace(text), invitationPrefix)
	parts := strings.Split(rest, "/")
	if !begins || len(parts) != 3 {
		return nil, input.Errorf("invitation: want the whole text that the controller showed: %sADDRESS:PORT/SECRET/KEY", invitationPrefix)
	}
	i := &Invitation{Address: parts[0], secret: parts[1]}
	if host, port, err := net.SplitHostPort(i.Address); err != nil || host == "" || port == "" {
		return nil, input.Errorf("invitation: address %q: want ADDRESS:PORT, such as 192.0.2.1:4222", i.Address)
	}
	if secret, err := base64.RawURLEncoding.DecodeString(i.secret); err != nil || len(secret) != 32 {
		return nil, input.Errorf("invitation: its secret is not whole: want 43 letters, digits, - and _ between the two slashes")
	}
	pin, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(pin) != len(i.pin) {
		return nil, input.Errorf("invitation: its end is not whole: want 43 letters, digits, - and _ after the last slash")
	}
	i.pin = [32]byte(pin)
	return i, nil
}

const (
	// InvitationLasts is long enough to go to another host and paste a line there, and short enough that one which was left in a chat or a
	// shell's history is worth nothing by the next day.
	InvitationLasts = time.Hour
	// maxInvitations are open at once. With one more, the oldest is void.
	maxInvitations = 100
)

// Invitations are those that a controller made, and what became of them. They are in memory alone: a restart makes all void. Their secrets
// are kept as SHA-256. The zero value has none.
type Invitations struct {
	mu   sync.Mutex
	made []*made          // oldest first
	now  func() time.Time // nil: time.Now
}

type made struct {
	hash  [32]byte
	by    string // who made it
	until time.Time
	used  string // by which host; "": by none yet
	busy  bool   // a host shows it at this moment
}

var (
	errInvitationUnknown = errors.New("no such invitation: it is older than an hour, or the controller was started again since; ask for another")
	errInvitationBusy    = errors.New("another host shows this invitation at this moment; ask for another")
)

// New makes an invitation to a controller's server and says until when it can be used. By is who asked for it.
func (v *Invitations) New(keys *Keyring, address, by string) (*Invitation, time.Time, error) {
	var secret [32]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return nil, time.Time{}, fmt.Errorf("make invitation: %w", err)
	}
	i := &Invitation{Address: address, secret: base64.RawURLEncoding.EncodeToString(secret[:]), pin: sha256.Sum256(keys.ca.cert.Raw)}
	v.mu.Lock()
	defer v.mu.Unlock()
	until := v.time().Add(InvitationLasts)
	v.made = append(v.made, &made{hash: sha256.Sum256([]byte(i.secret)), by: by, until: until})
	if len(v.made) > maxInvitations {
		v.made = v.made[1:]
	}
	return i, until, nil
}

func (v *Invitations) time() time.Time {
	if v.now == nil {
		return time.Now()
	}
	return v.now()
}

// use lets admit go ahead if the secret is of an invitation that is good, and makes that void if admit made a host of the mesh of it.
func (v *Invitations) use(secret string, admit func(by string) (host string, err error)) error {
	m, err := v.take(sha256.Sum256([]byte(secret)))
	if err != nil {
		return err
	}
	host, err := admit(m.by)
	v.mu.Lock()
	defer v.mu.Unlock()
	m.busy = false
	if err == nil {
		m.used = host
	}
	return err
}

// take finds an invitation and holds it. That hashes are compared byte by byte tells nobody what has such a hash.
func (v *Invitations) take(hash [32]byte) (*made, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, m := range v.made {
		switch {
		case m.hash != hash:
		case m.used != "":
			return nil, fmt.Errorf("this invitation was used by host %s; each is good for one, so ask for another", m.used)
		case m.busy:
			return nil, errInvitationBusy
		case !v.time().Before(m.until):
			return nil, errInvitationUnknown
		default:
			m.busy = true
			return m, nil
		}
	}
	return nil, errInvitationUnknown
}

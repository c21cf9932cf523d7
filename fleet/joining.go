package fleet

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"
	"unicode"
)

// A host that joins comes to the same port as agents do, and says during the TLS handshake that it has no keys yet (ALPN, RFC 7301). It
// never reaches the NATS server: one line goes each way, and the connection ends.
//
//	host                                       controller
//	  TLS 1.3, by the pin of the invitation  <-->
//	  {"secret": …, "name": …}                -->  is the invitation good? then Admit
//	                                         <--   {"credentials": …}, or {"error": …}

// Applicant is a host that shows a good invitation.
type Applicant struct {
	Name    string     // that it would like to have
	Address netip.Addr // that it comes from
	By      string     // who made the invitation
}

// Joining lets hosts into a mesh.
type Joining struct {
	Invitations *Invitations
	// Admit makes a host of the mesh of an applicant, and returns the keys that it is known by from then on.
	Admit func(context.Context, Applicant) (*Credentials, error)
}

const (
	// joinProtocol is what a host that joins asks for in ALPN.
	joinProtocol = "pathwise-join/1"
	// joinTime bears lines with losses, and a mesh file that the controller takes seconds to check.
	joinTime = 30 * time.Second
	// maxApplication in bytes is above a secret and a name; maxAdmission above credentials and their certificates.
	maxApplication, maxAdmission = 4 << 10, 64 << 10
	// maxHostName in bytes is that of the mesh file.
	maxHostName = 63
)

type application struct {
	Secret string `json:"secret"`
	Name   string `json:"name"`
}

type admissionAnswer struct {
	Credentials *Credentials `json:"credentials,omitempty"`
	Error       string       `json:"error,omitempty"`
}

// Let says how hosts may join from now on.
func (s *Server) Let(j *Joining) {
	if s.entry != nil {
		s.entry.joining.Store(j)
	}
}

// admit answers a host that asks to join.
func (e *entry) admit(c net.Conn) {
	if c.SetDeadline(time.Now().Add(joinTime)) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), joinTime)
	defer cancel()
	credentials, err := e.admitted(ctx, c)
	answer := admissionAnswer{Credentials: credentials}
	if err != nil {
		answer = admissionAnswer{Error: err.Error()}
		e.refused.log(e.log, "host was not let join", "from", c.RemoteAddr(), "why", err)
	}
	_ = json.NewEncoder(c).Encode(answer) // who is gone by now asks for another invitation
}

func (e *entry) admitted(ctx context.Context, c net.Conn) (credentials *Credentials, err error) {
	j := e.joining.Load()
	if j == nil {
		return nil, errors.New("this controller takes no hosts by invitation")
	}
	var a application
	if err := readJSONLine(c, maxApplication, &a); err != nil {
		return nil, err
	}
	if !validHostName(a.Name) {
		return nil, fmt.Errorf("name %.70q: want letters, digits, ., - and _, at most %d of them", a.Name, maxHostName)
	}
	from, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return nil, err
	}
	err = j.Invitations.use(a.Secret, func(by string) (string, error) {
		credentials, err = j.Admit(ctx, Applicant{Name: a.Name, Address: from.Addr().Unmap(), By: by})
		if err != nil {
			return "", err
		}
		e.log.Info("host joined by an invitation", "host", credentials.Host, "from", from.Addr(), "invited_by", by)
		return credentials.Host, nil
	})
	return credentials, err
}

// validHostName says whether a name can be a host's in a mesh file.
func validHostName(name string) bool {
	return name != "" && len(name) <= maxHostName && name != "all" && !strings.ContainsFunc(name, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".-_", r)
	})
}

// Join shows an invitation to its controller, which makes this host one of its mesh, under this name or, where that is taken, one like it.
// From is the address of this host that other hosts are to reach it by; an invalid one leaves it to the kernel.
func (i *Invitation) Join(ctx context.Context, name string, from netip.Addr) (*Credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	c, err := i.dial(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("join the mesh of %s: %w", i.Address, err)
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	var answer admissionAnswer
	err = json.NewEncoder(c).Encode(application{i.secret, name})
	if err == nil {
		err = readJSONLine(c, maxAdmission, &answer)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("join the mesh of %s: %w", i.Address, err)
	case answer.Error != "":
		return nil, fmt.Errorf("join the mesh of %s: %s", i.Address, oneLine(answer.Error))
	case answer.Credentials == nil:
		return nil, fmt.Errorf("join the mesh of %s: it answered without keys", i.Address)
	}
	return answer.Credentials, answer.Credentials.Validate()
}

// oneLine is a text from elsewhere as a terminal may show it.
func oneLine(text string) string {
	const longest = 300
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	return text[:min(len(text), longest)]
}

// dial reaches the controller of the invitation, and no other.
func (i *Invitation) dial(ctx context.Context, from netip.Addr) (net.Conn, error) {
	d := net.Dialer{}
	if from.IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0))
	}
	plain, err := d.DialContext(ctx, "tcp", i.Address)
	if err != nil {
		return nil, err
	}
	end := func(err error) (net.Conn, error) { return nil, errors.Join(err, plain.Close()) }
	if deadline, ok := ctx.Deadline(); ok {
		if err := plain.SetDeadline(deadline); err != nil {
			return end(err)
		}
	}
	greeting, err := lineOf(plain, maxInfo)
	if err != nil || !strings.HasPrefix(string(greeting), "INFO ") {
		return end(errors.New("no controller of Pathwise answers there"))
	}
	secure := tls.Client(plain, &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{joinProtocol},
		InsecureSkipVerify: true, VerifyConnection: i.verify, // by the pin, in place of the authorities of this system
	})
	if err := secure.HandshakeContext(ctx); err != nil {
		return end(err)
	}
	if secure.ConnectionState().NegotiatedProtocol != joinProtocol {
		return end(errors.New("this controller takes no hosts by invitation"))
	}
	return secure, nil
}

// verify says whether the other end has a certificate that the authority of the invitation signed.
func (i *Invitation) verify(s tls.ConnectionState) error {
	roots := x509.NewCertPool()
	for _, c := range s.PeerCertificates {
		if sha256.Sum256(c.Raw) == i.pin {
			roots.AddCert(c)
		}
	}
	if len(s.PeerCertificates) > 0 {
		if _, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: serverName}); err == nil {
			return nil
		}
	}
	return errors.New("who answers there is not the controller that made the invitation")
}

// lineOf reads one line and not a byte more: what follows is of another protocol.
func lineOf(r io.Reader, most int) ([]byte, error) {
	var line []byte
	for b := make([]byte, 1); len(line) < most; line = append(line, b[0]) {
		if _, err := io.ReadFull(r, b); err != nil || b[0] == '\n' {
			return line, err
		}
	}
	return nil, fmt.Errorf("a line of more than %d bytes came", most)
}

func readJSONLine(r io.Reader, most int, v any) error {
	line, err := bufio.NewReaderSize(io.LimitReader(r, int64(most)), most).ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("read what the other end says: %w", err)
	}
	if err := json.Unmarshal(line, v); err != nil {
		return fmt.Errorf("read what the other end says: want one line of JSON: %w", err)
	}
	return nil
}

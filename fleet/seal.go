package fleet

import (
	"errors"

	"github.com/nats-io/nkeys"
)

// What the controller tells a host is signed, so that nobody else can say it, and sealed, so that nobody else learns the
// secrets that open a listener, not even who holds the NATS server:
//
//	sealed for the host (X25519, XSalsa20-Poly1305) of
//	    signature (Ed25519, 64 bytes) of context, kind, host and body
//	    body, packed
//
// Kind and host are signed without being sent: a message for another host, or an order passed off as a plan, fails.
const (
	sealContext = "pathwise.fleet/1"
	kindPlan    = "plan"
	kindOrder   = "order"
	kindFiled   = "filed"

	signatureBytes = 64
)

// errForged says that a message is not the controller's, or not for this host.
var errForged = errors.New("not signed by the controller for this host")

func signed(kind, host string, body []byte) []byte {
	b := make([]byte, 0, len(sealContext)+len(kind)+len(host)+3+len(body))
	for _, s := range []string{sealContext, kind, host} {
		b = append(append(b, s...), 0) // no name holds a zero byte: no two sets of them read alike
	}
	return append(b, body...)
}

// seal closes a message of the given kind for one host.
func (k *Keyring) seal(kind, host string, to AgentKeys, body []byte) ([]byte, error) {
	signature, err := k.signing.Sign(signed(kind, host, body))
	if err != nil {
		return nil, err
	}
	return k.sealing.Seal(append(signature, body...), to.Sealing)
}

// opener opens what the controller sealed for one host.
type opener struct {
	host     string
	unseal   nkeys.KeyPair
	verify   nkeys.KeyPair
	sealedBy string
}

func newOpener(c *Credentials) (*opener, error) {
	var public string
	unseal, err := fromSeed(nkeys.PrefixByteCurve, c.Sealing, &public)
	if err != nil {
		return nil, err
	}
	verify, err := nkeys.FromPublicKey(c.Controller.Signing)
	if err != nil {
		return nil, err
	}
	return &opener{host: c.Host, unseal: unseal, verify: verify, sealedBy: c.Controller.Sealing}, nil
}

func (o *opener) open(kind string, data []byte) ([]byte, error) {
	plain, err := o.unseal.Open(data, o.sealedBy)
	if err != nil || len(plain) < signatureBytes {
		return nil, errForged
	}
	body := plain[signatureBytes:]
	if o.verify.Verify(signed(kind, o.host, body), plain[:signatureBytes]) != nil {
		return nil, errForged
	}
	return body, nil
}

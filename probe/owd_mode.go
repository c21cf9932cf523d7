package probe

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/stamp"
	"github.com/pathwise-net/pathwise/proto/twamp"
)

// The modes of OWD, by the letters that other senders of these protocols have for them.
const (
	modeOpen          = "O"
	modeAuthenticated = "A"
	modeEncrypted     = "E" // TWAMP and OWAMP alone
	modeMixed         = "M" // RFC 5618, TWAMP alone: the control connection is encrypted, its test packets are open
)

// owdModes are the modes of each protocol.
var owdModes = map[string][]string{
	protoSTAMP: {modeOpen, modeAuthenticated},
	protoTWAMP: {modeOpen, modeAuthenticated, modeEncrypted, modeMixed},
	protoOWAMP: {modeOpen, modeAuthenticated, modeEncrypted},
}

// controlModes are the modes as a control connection has them. "" leaves it to both ends.
var controlModes = map[string]control.Mode{modeOpen: control.Open, modeAuthenticated: control.Authenticated, modeEncrypted: control.Encrypted,
	modeMixed: control.Mixed}

// checkMode refuses a mode that the protocol does not have, and what is said of keys where none is used.
func (p OWD) checkMode() error {
	switch modes := owdModes[p.Proto]; {
	case p.Mode != "" && !slices.Contains(modes, p.Mode):
		return &input.Error{Field: "mode", Value: p.Mode, Remedy: "of " + p.Proto + " give " + oneOf(modes)}
	case p.Mode == modeOpen && p.KeyFile != "":
		return &input.Error{Field: "key-file", Value: p.KeyFile, Remedy: "the open mode takes no key; leave one of them out"}
	case p.Proto == protoSTAMP && p.Mode == modeAuthenticated && p.KeyFile == "":
		return &input.Error{Field: "mode", Value: p.Mode, Remedy: "name the file with the key by key-file"}
	case p.KeyID != "" && (p.KeyFile == "" || p.Proto == protoSTAMP):
		return &input.Error{Field: "key-id", Value: p.KeyID, Remedy: "it names a key of the key-file of twamp or owamp; leave it out"}
	}
	return nil
}

// secured reports whether packets are authenticated, or encrypted, as far as is known before a server says what it prefers.
func (p OWD) secured() bool {
	return p.Mode == modeAuthenticated || p.Mode == modeEncrypted || p.Mode == "" && (p.KeyFile != "" || p.Proto == protoSTAMP && p.secret != "")
}

// sealable reports whether packets by STAMP can be authenticated by the secret of a run.
func (p OWD) sealable() bool {
	all := p.withSecret().withDefaults()
	return all.Proto == protoSTAMP && all.KeyFile == "" && all.Mode == "" && all.checkSize() == nil
}

// withSecret is as a run has it that shows a secret, before anybody knows which.
func (p OWD) withSecret() OWD {
	p.secret = "of some run"
	return p
}

// usualSize are the bytes of a packet of which nothing else is said: the shortest, by STAMP with all that it asks for.
func (p OWD) usualSize() int {
	if p.Proto == protoSTAMP {
		return p.leastSize() + tlvBytes(p.secured(), p.asks())
	}
	return p.leastSize()
}

// leastSize are the bytes of the shortest packet. That of TWAMP is as long as its answer.
func (p OWD) leastSize() int {
	secured := p.secured()
	switch {
	case p.Proto == protoOWAMP && (secured || p.Mode == "" && p.secret != ""):
		return control.PacketBytes(control.Encrypted, 0)
	case p.Proto == protoOWAMP:
		return control.PacketBytes(control.Open, 0)
	case p.Proto == protoTWAMP && secured:
		return twamp.ReflectionBytes(control.Encrypted, 0)
	case p.Proto == protoTWAMP:
		return twamp.ReflectionBytes(control.Open, 0)
	case secured:
		return stamp.SecuredBytes
	}
	return stamp.LeastBytes
}

// far is the kind of listener that the target opens for a run. What is asked with a key of the host's own is there before.
func (p OWD) far() string {
	switch {
	case p.KeyFile != "":
		return ""
	case p.Proto == protoTWAMP:
		return measure.ResponderTWAMP
	case p.Proto == protoOWAMP:
		return measure.ResponderOWAMP
	}
	return measure.ResponderSTAMP
}

// readKey reads the key of the key file, and says which mode a run's own secret stands for by TWAMP: the mixed one, whose packets are of any size.
func (p *OWD) readKey() error {
	switch {
	case p.KeyFile == "" && p.secret != "" && p.Proto == protoSTAMP:
		p.Mode, p.key = modeAuthenticated, stamp.RunKey(p.secret)
		return nil
	case p.KeyFile == "" && p.secret != "":
		p.KeyID, p.key = endpoint.RunKeyID, []byte(p.secret)
		if p.Proto == protoTWAMP {
			setDefault(&p.Mode, modeMixed)
		}
		return nil
	case p.KeyFile == "" && p.Mode != "" && p.Mode != modeOpen:
		return &input.Error{Field: "mode", Value: p.Mode, Remedy: "name the file with the key by key-file"}
	case p.KeyFile == "":
		return nil
	}
	file, err := os.Open(p.KeyFile)
	if err != nil {
		return p.unreadable(err)
	}
	defer file.Close()
	if p.Proto == protoSTAMP {
		setDefault(&p.Mode, modeAuthenticated)
		if p.key, err = stamp.ReadKey(file); err != nil {
			return p.unreadable(err)
		}
		return nil
	}
	return p.findKey(file)
}

func (p *OWD) unreadable(err error) error {
	return &input.Error{Field: "key-file", Value: p.KeyFile, Remedy: "give a file of keys that can be read: " + err.Error()}
}

// findKey finds the key that is named, or the only one.
func (p *OWD) findKey(file io.Reader) error {
	keys, err := endpoint.ReadKeys(file)
	if err != nil {
		return p.unreadable(err)
	}
	if p.KeyID == "" && len(keys) == 1 {
		p.KeyID = slices.Collect(maps.Keys(keys))[0]
	}
	if p.key = keys[p.KeyID]; p.key == nil {
		return &input.Error{Field: "key-id", Value: p.KeyID, Remedy: fmt.Sprintf("give the ID of one of the %d keys in %s", len(keys), p.KeyFile)}
	}
	return nil
}

package probe

import (
	"os"
	"strings"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// Login is who a test of throughput says that it is, to a server that asks for it (iperf3's RSA authentication).
type Login struct {
	Username     string // "": it says nothing
	PasswordFile string // "": the password is in the environment
	KeyFile      string // the server's RSA public key, in PEM
	PKCS1        bool   // padding of servers before iperf3 3.17
}

// passwordVariable is where iperf3 looks for a password, too.
const passwordVariable = "IPERF3_PASSWORD"

// check refuses a name without a key, and a key without a name.
func (l Login) check() error {
	switch {
	case l.Username != "" && l.KeyFile == "":
		return &input.Error{Field: "username", Value: l.Username, Remedy: "name the file with the server's key by rsa-public-key-path"}
	case l.Username == "" && l.KeyFile != "":
		return &input.Error{Field: "rsa-public-key-path", Value: l.KeyFile, Remedy: "say who tests by username, or leave it out"}
	case l.Username == "" && l.PasswordFile != "":
		return &input.Error{Field: "password-file", Value: l.PasswordFile, Remedy: "say who tests by username, or leave it out"}
	}
	return nil
}

// read reads the files; nil where nothing is to be said.
func (l Login) read() (*iperf3.ClientAuth, error) {
	if l.Username == "" {
		return nil, nil
	}
	text, err := os.ReadFile(l.KeyFile)
	if err != nil {
		return nil, &input.Error{Field: "rsa-public-key-path", Value: l.KeyFile, Remedy: err.Error()}
	}
	key, err := iperf3.ReadPublicKey(text)
	if err != nil {
		return nil, &input.Error{Field: "rsa-public-key-path", Value: l.KeyFile, Remedy: "give a file with an RSA public key in PEM"}
	}
	password := os.Getenv(passwordVariable)
	if l.PasswordFile != "" {
		text, err := os.ReadFile(l.PasswordFile)
		if err != nil {
			return nil, &input.Error{Field: "password-file", Value: l.PasswordFile, Remedy: err.Error()}
		}
		password, _, _ = strings.Cut(string(text), "\n")
	}
	if password == "" {
		return nil, &input.Error{Field: "password-file", Value: l.PasswordFile, Remedy: "give a file with the password, or set " + passwordVariable}
	}
	return &iperf3.ClientAuth{Username: l.Username, Password: password, Key: key, PKCS1: l.PKCS1}, nil
}

package fleet

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/nats-io/nkeys"

	"github.com/pathwise-net/pathwise/durable"
	"github.com/pathwise-net/pathwise/input"
)

// Credentials are what one agent needs to be itself and to know its controller. They are a secret: they go to the host
// in a file that only its agent may read, or through the standard input of an agent that SSH started.
type Credentials struct {
	Host string `json:"host"`
	Reach
	Login      string         `json:"login_seed"`
	Sealing    string         `json:"sealing_seed"`
	Controller ControllerKeys `json:"controller"`
}

// Reach is where an agent finds the NATS server.
type Reach struct {
	URLs       []string `json:"urls"`                  // tls://HOST:PORT, or nats://HOST:PORT in the clear; none: through SSH
	CA         string   `json:"ca,omitempty"`          // PEM; the only authorities that count. "": those of the system
	ServerName string   `json:"server_name,omitempty"` // that the server's certificate must hold; "": the host of the URL
}

// Embedded is how agents reach the embedded server of this keyring's controller, at one or more addresses HOST:PORT.
// They know it by its certificate authority and one fixed name, so that it may have any address.
func (k *Keyring) Embedded(addresses ...string) Reach {
	r := Reach{CA: string(k.ca.pem), ServerName: serverName}
	for _, a := range addresses {
		r.URLs = append(r.URLs, "tls://"+a)
	}
	return r
}

// Validate checks what an agent could not connect without.
func (c *Credentials) Validate() error {
	if c.Host == "" {
		return input.Errorf("credentials: host: it is empty")
	}
	var public string
	for name, k := range map[string]struct {
		seed   string
		prefix nkeys.PrefixByte
	}{
		"login_seed":   {c.Login, nkeys.PrefixByteUser},
		"sealing_seed": {c.Sealing, nkeys.PrefixByteCurve},
	} {
		if _, err := fromSeed(k.prefix, k.seed, &public); err != nil {
			return input.Errorf("credentials: %s: %v", name, err) // the seed is in no error
		}
	}
	if !nkeys.IsValidPublicOperatorKey(c.Controller.Signing) {
		return input.Errorf("credentials: controller.signing: %q is no public signing key (O…)", c.Controller.Signing)
	}
	if !nkeys.IsValidPublicCurveKey(c.Controller.Sealing) {
		return input.Errorf("credentials: controller.sealing: %q is no public sealing key (X…)", c.Controller.Sealing)
	}
	return nil
}

// String keeps the seeds out of every log.
func (c *Credentials) String() string { return "credentials of " + c.Host }

// GoString keeps the seeds out of what %#v prints.
func (c *Credentials) GoString() string { return c.String() }

// LogValue keeps the seeds out of what slog writes.
func (c *Credentials) LogValue() slog.Value { return slog.StringValue(c.String()) }

// WriteFile writes them for their owner alone to read.
func (c *Credentials) WriteFile(path string) error { return writeSecret(durable.Owner{}, path, c) }

// WriteLine writes them as the line that an agent started with --stdio reads first.
func (c *Credentials) WriteLine(w io.Writer) error {
	data, err := json.Marshal(c)
	if err == nil {
		_, err = w.Write(append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("hand over credentials: %w", err)
	}
	return nil
}

// ReadCredentials reads a file that WriteFile wrote, and refuses one that others may read.
func ReadCredentials(path string) (*Credentials, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 && !bySystemd(path, info) {
		return nil, input.Errorf("credentials %s: mode is %#o, so that others may read them; chmod 600 %s",
			path, info.Mode().Perm(), path)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	c, err := parseCredentials(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// bySystemd says whether systemd put a file there for its service alone (LoadCredential= in systemd.exec(5)): it is root's, in
// a folder that only the service may enter, and the bit of its group stands for an access list with the service's user.
func bySystemd(path string, info os.FileInfo) bool {
	folder := os.Getenv("CREDENTIALS_DIRECTORY")
	within, err := filepath.Rel(folder, path)
	if folder == "" || err != nil || !filepath.IsLocal(within) {
		return false
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	return known && owner.Uid == 0 && info.Mode().Perm()&^0o440 == 0
}

func parseCredentials(data []byte) (*Credentials, error) {
	var c Credentials
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, input.Errorf("credentials: not the JSON that a deployment writes: %v", err)
	}
	return &c, c.Validate()
}

// newSeed makes a key pair and returns both halves as text.
func newSeed(prefix nkeys.PrefixByte) (seed, public string, err error) {
	pair, err := nkeys.CreatePair(prefix)
	if prefix == nkeys.PrefixByteCurve {
		pair, err = nkeys.CreateCurveKeys()
	}
	if err != nil {
		return "", "", fmt.Errorf("make key: %w", err)
	}
	secret, err := pair.Seed()
	if err == nil {
		public, err = pair.PublicKey()
	}
	if err != nil {
		return "", "", fmt.Errorf("make key: %w", err)
	}
	return string(secret), public, nil
}

// fromSeed reads the private half of a key and tells the public one.
func fromSeed(prefix nkeys.PrefixByte, seed string, public *string) (nkeys.KeyPair, error) {
	got, _, err := nkeys.DecodeSeed([]byte(seed))
	if err == nil && got != prefix {
		err = fmt.Errorf("a key for another purpose")
	}
	if err != nil {
		return nil, fmt.Errorf("read seed of a key: %w", err)
	}
	var pair nkeys.KeyPair
	if prefix == nkeys.PrefixByteCurve {
		pair, err = nkeys.FromCurveSeed([]byte(seed))
	} else {
		pair, err = nkeys.FromSeed([]byte(seed))
	}
	if err == nil {
		*public, err = pair.PublicKey()
	}
	if err != nil {
		return nil, fmt.Errorf("read seed of a key: %w", err)
	}
	return pair, nil
}

// writeSecret replaces a file by the JSON of v, whole or not at all, for its owner alone to read.
func writeSecret(owner durable.Owner, path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = owner.Write(path, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	return nil
}

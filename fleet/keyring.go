package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/pathwise-net/pathwise/durable"
	"github.com/pathwise-net/pathwise/input"
)

// Keyring is the controller's folder of keys:
//
//	controller.json       seeds of its three keys, see controllerSeeds            0600
//	ca.pem  ca.key        certificate authority of the embedded server, see authority.go
//	agents/HOST.json      public keys of one agent
//
// The server and the hub read it while another process, a deployment, writes: each file is replaced whole.
type Keyring struct {
	folder  string
	owner   durable.Owner
	login   nkeys.KeyPair
	signing nkeys.KeyPair
	sealing nkeys.KeyPair
	public  ControllerKeys
	ca      *authority

	mu     sync.Mutex
	agents map[string]AgentKeys // as they were when the folder was last changed at
	at     time.Time            // zero: they are to be read
}

// ControllerKeys are the public keys of the controller: its user at the NATS server, what it signs plans and orders
// with, and what it seals them with.
type ControllerKeys struct {
	Login   string `json:"login"`
	Signing string `json:"signing"`
	Sealing string `json:"sealing"`
}

// AgentKeys are the public keys of an agent: its user at the NATS server, and what is sealed for it.
type AgentKeys struct {
	Login   string `json:"login"`
	Sealing string `json:"sealing"`
}

type controllerSeeds struct {
	Login   string `json:"login_seed"`
	Signing string `json:"signing_seed"`
	Sealing string `json:"sealing_seed"`
}

// OpenKeyring reads the folder, and makes it and its keys if there are none. Losing it means to deploy every host again. It is
// in the controller's own folder, whose owner gets what root makes.
func OpenKeyring(folder string) (*Keyring, error) {
	k := &Keyring{folder: folder}
	if err := k.makeFolders(); err != nil {
		return nil, fmt.Errorf("make folder of keys: %w", err)
	}
	if err := k.openController(filepath.Join(folder, "controller.json")); err != nil {
		return nil, err
	}
	var err error
	if k.ca, err = openAuthority(k.owner, folder); err != nil {
		return nil, err
	}
	return k, nil
}

func (k *Keyring) makeFolders() (err error) {
	if err := os.MkdirAll(filepath.Dir(k.folder), 0o700); err != nil {
		return err
	}
	if k.owner, err = durable.OwnerOf(filepath.Dir(k.folder)); err != nil {
		return err
	}
	if err := k.owner.Mkdir(k.folder); err != nil {
		return err
	}
	return k.owner.Mkdir(filepath.Join(k.folder, "agents"))
}

func (k *Keyring) openController(path string) error {
	var seeds controllerSeeds
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if seeds, err = newControllerSeeds(); err != nil {
			return err
		}
		if err := writeSecret(k.owner, path, seeds); err != nil {
			return err
		}
	case err != nil:
		return fmt.Errorf("read controller's keys: %w", err)
	default:
		if err := json.Unmarshal(data, &seeds); err != nil {
			return fmt.Errorf("read controller's keys in %s: %w", path, err)
		}
	}
	k.login, err = fromSeed(nkeys.PrefixByteUser, seeds.Login, &k.public.Login)
	if err == nil {
		k.signing, err = fromSeed(nkeys.PrefixByteOperator, seeds.Signing, &k.public.Signing)
	}
	if err == nil {
		k.sealing, err = fromSeed(nkeys.PrefixByteCurve, seeds.Sealing, &k.public.Sealing)
	}
	if err != nil {
		return fmt.Errorf("read controller's keys in %s: %w", path, err)
	}
	return nil
}

func newControllerSeeds() (s controllerSeeds, err error) {
	for seed, prefix := range map[*string]nkeys.PrefixByte{
		&s.Login: nkeys.PrefixByteUser, &s.Signing: nkeys.PrefixByteOperator, &s.Sealing: nkeys.PrefixByteCurve,
	} {
		if *seed, _, err = newSeed(prefix); err != nil {
			return s, err
		}
	}
	return s, nil
}

// Public returns the controller's public keys.
func (k *Keyring) Public() ControllerKeys { return k.public }

// Issue makes new keys for the agent of a host and notes the public ones; those that it had before count no more.
func (k *Keyring) Issue(host string, at Reach) (*Credentials, error) {
	if host == "" {
		return nil, input.Errorf("host: it has no name")
	}
	c := &Credentials{Host: host, Reach: at, Controller: k.public}
	var keys AgentKeys
	var err error
	if c.Login, keys.Login, err = newSeed(nkeys.PrefixByteUser); err != nil {
		return nil, err
	}
	if c.Sealing, keys.Sealing, err = newSeed(nkeys.PrefixByteCurve); err != nil {
		return nil, err
	}
	if err := writeSecret(k.owner, k.agentPath(host), keys); err != nil {
		return nil, err
	}
	return c, nil
}

// Withdraw forgets the keys of a host's agent. Server.SetAgents then ends its connection.
func (k *Keyring) Withdraw(host string) error {
	if err := os.Remove(k.agentPath(host)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("withdraw keys of %s: %w", host, err)
	}
	return nil
}

// Agent returns the public keys of one host's agent.
func (k *Keyring) Agent(host string) (keys AgentKeys, err error) {
	data, err := os.ReadFile(k.agentPath(host))
	if errors.Is(err, fs.ErrNotExist) {
		return keys, fmt.Errorf("%s has no keys: deploy it first: %w", host, ErrAway)
	}
	if err == nil {
		err = json.Unmarshal(data, &keys)
	}
	if err != nil {
		return keys, fmt.Errorf("read keys of %s: %w", host, err)
	}
	return keys, nil
}

// Agents returns the public keys of every agent, by host, as they are on disk now. It reads them only if the folder changed:
// it is asked every few seconds, and there may be thousands.
func (k *Keyring) Agents() (map[string]AgentKeys, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	info, err := os.Stat(filepath.Join(k.folder, "agents"))
	if err != nil {
		return nil, fmt.Errorf("list agents' keys: %w", err)
	}
	if changed := info.ModTime(); k.at.IsZero() || !changed.Equal(k.at) {
		settled := time.Since(changed) > folderTick
		k.at = time.Time{}
		if k.agents, err = k.readAgents(); err != nil {
			return nil, err
		}
		if settled {
			k.at = changed
		}
	}
	return maps.Clone(k.agents), nil
}

// folderTick is longer than two changes of a folder may be apart and leave it with one time: of a file system that counts in
// seconds, two.
const folderTick = 2 * time.Second

func (k *Keyring) readAgents() (map[string]AgentKeys, error) {
	files, err := os.ReadDir(filepath.Join(k.folder, "agents"))
	if err != nil {
		return nil, fmt.Errorf("list agents' keys: %w", err)
	}
	all := make(map[string]AgentKeys, len(files))
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok {
			continue // being written
		}
		host := untoken(name)
		if all[host], err = k.Agent(host); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (k *Keyring) agentPath(host string) string {
	return filepath.Join(k.folder, "agents", token(host)+".json")
}

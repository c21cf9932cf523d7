package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/secret"
)

// sshHosts keeps an agent running on every host of the mesh that is reached by SSH.
type sshHosts struct {
	ctx      context.Context
	messages *messaging
	data     string
	log      *slog.Logger
	drained  func(ctx context.Context, host string) error // returns when a host holds no more results

	mu      sync.Mutex
	running map[string]*sshHost // by name
	group   sync.WaitGroup
}

// sshHost is one that is kept running.
type sshHost struct {
	as   config.Host
	end  context.CancelFunc
	over chan struct{} // closed when nothing runs any more
}

func newSSHHosts(ctx context.Context, p *messaging, data string, log *slog.Logger) *sshHosts {
	return &sshHosts{ctx: ctx, messages: p, data: data, log: log, running: map[string]*sshHost{}}
}

// follow begins with hosts that are new in the mesh or reached in another way now, and ends those that are gone. An error
// changes nothing.
func (h *sshHosts) follow(m *config.Mesh) error {
	wanted := map[string]*fleet.SSH{}
	as := map[string]config.Host{}
	for _, host := range m.Hosts {
		if host.Reach != config.ReachSSH || host.Offline {
			continue
		}
		s, err := h.describe(&host)
		if err != nil {
			return err
		}
		wanted[host.Name], as[host.Name] = s, host
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var ended []*sshHost
	for name, old := range h.running {
		if wanted[name] == nil || !reflect.DeepEqual(old.as.SSH, as[name].SSH) {
			old.end()
			ended = append(ended, old)
			delete(h.running, name)
		}
	}
	for _, old := range ended { // each empties its spool and tidies up, all at a time
		<-old.over
	}
	for name, s := range wanted {
		if h.running[name] == nil {
			if err := h.begin(as[name], s); err != nil {
				return err
			}
		}
	}
	return nil
}

// describe says how a host is reached; what the mesh file leaves out is as ssh has it for this user.
func (h *sshHosts) describe(host *config.Host) (*fleet.SSH, error) {
	if h.messages.outside != nil { // whose servers would have to be told the keys that begin makes
		return nil, input.Errorf("host %s: reach: ssh goes through the controller's own NATS server, "+
			"and controller.nats.url names another: have an agent dial in", host.Name)
	}
	s := host.SSH
	address, port := s.Address, s.Port
	if address == "" {
		address = host.Interfaces[0].Addresses[0]
	}
	port = cmp.Or(port, 22)
	described := &fleet.SSH{
		Host: host.Name, Address: net.JoinHostPort(address, strconv.Itoa(port)), User: s.User, Folder: s.Directory,
		Binaries: binariesIn(h.binaryFolder()), BinariesIn: h.binaryFolder(), Dial: h.messages.dial, Leave: s.Leave, Log: h.log,
	}
	key := s.Key
	if err := locate(secret.In(h.data), &key); err != nil {
		return nil, fmt.Errorf("host %s: reach.ssh.key: %w", host.Name, err)
	}
	logIn(described, key, s.KnownHosts)
	described.Drain = func(ctx context.Context) error { return h.drained(ctx, host.Name) }
	described.Credentials = &fleet.Credentials{} // set by begin: new keys end the old ones
	if len(described.Keys) == 0 && described.Agent == "" {
		return nil, input.Errorf("host %s: no private key; name one as reach.ssh.key in the mesh file", host.Name)
	}
	return described, nil
}

// logIn fills in as ssh has it for this user what was not said: who logs in, by which keys, and which hosts are known.
func logIn(s *fleet.SSH, key, knownHosts string) {
	me := ownHome()
	if s.User == "" {
		s.User = me.Username
	}
	s.Agent = os.Getenv("SSH_AUTH_SOCK")
	s.Keys = existing(key, filepath.Join(me.HomeDir, ".ssh/id_ed25519"), filepath.Join(me.HomeDir, ".ssh/id_ecdsa"),
		filepath.Join(me.HomeDir, ".ssh/id_rsa"))
	s.KnownHosts = existing(knownHosts, filepath.Join(me.HomeDir, ".ssh/known_hosts"), "/etc/ssh/ssh_known_hosts")
}

func (h *sshHosts) binaryFolder() string { return filepath.Join(h.data, "binaries") }

// binariesIn are ours by platform: this one, and those of others that lie in a folder.
func binariesIn(folder string) map[string]string {
	all := map[string]string{}
	files, _ := filepath.Glob(filepath.Join(folder, "pathwise-*-*")) // the pattern is right
	for _, f := range files {
		if part := strings.Split(filepath.Base(f), "-"); len(part) == 3 { // pathwise-linux-arm64
			all[part[1]+"/"+part[2]] = f
		}
	}
	all[runtime.GOOS+"/"+runtime.GOARCH] = lab.Self()
	return all
}

// begin makes keys for a host and keeps its agent running until it is ended.
func (h *sshHosts) begin(host config.Host, s *fleet.SSH) (err error) {
	if s.Credentials, err = h.messages.issue(host.Name, fleet.Reach{}); err != nil {
		return err
	}
	if err := s.Validate(); err != nil {
		return err
	}
	ctx, end := context.WithCancel(h.ctx)
	one := &sshHost{as: host, end: end, over: make(chan struct{})}
	h.running[host.Name] = one
	h.group.Go(func() {
		defer close(one.over)
		defer end()
		if err := s.Serve(ctx); err != nil && ctx.Err() == nil {
			h.log.Error("host is not reached by SSH any more", "host", host.Name, "error", err)
		}
	})
	return nil
}

// wait returns when nothing runs any more; the context of newSSHHosts has ended.
func (h *sshHosts) wait() { h.group.Wait() }

// existing is the file that was named, whether it is there or not, or else those of the usual ones that are there.
func existing(named string, usual ...string) []string {
	if named != "" {
		return []string{named}
	}
	var found []string
	for _, f := range usual {
		if _, err := os.Stat(f); err == nil {
			found = append(found, f)
		}
	}
	return found
}

// ownHome is who runs this process, and where their files are.
func ownHome() *user.User {
	me, err := user.Current()
	if err != nil {
		return &user.User{Username: "root", HomeDir: "/"}
	}
	return me
}

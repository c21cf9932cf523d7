package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// sshd is a real one on a loopback port, with keys of its own.
type sshd struct {
	address string
	user    string
	key     string // file of a private key that may log in
	known   string // file of known hosts
	hostKey ssh.PublicKey
	home    string // folder where what is pushed goes
}

func startSSHD(t *testing.T) *sshd { t.Helper(); return startSSHDWith(t, "") }

// startSSHDWith adds lines to the server's configuration. Words before its command run it.
func startSSHDWith(t *testing.T, lines string, before ...string) *sshd {
	t.Helper()
	program := "/usr/sbin/sshd"
	if _, err := os.Stat(program); err != nil {
		t.Skip("openssh-server is not installed")
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if me.Uid == "0" {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // of privilege separation
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	d := &sshd{user: me.Username, key: filepath.Join(folder, "id"), known: filepath.Join(folder, "known_hosts"), home: t.TempDir()}
	host := writeKey(t, filepath.Join(folder, "host_key"))
	login := writeKey(t, d.key)
	d.hostKey = host
	write(t, filepath.Join(folder, "authorized_keys"), "restrict "+string(ssh.MarshalAuthorizedKey(login)))
	d.address = freeAddress(t)
	_, port, _ := net.SplitHostPort(d.address)
	write(t, filepath.Join(folder, "config"), strings.NewReplacer("FOLDER", folder, "PORT", port).Replace(`
ListenAddress 127.0.0.1
Port PORT
HostKey FOLDER/host_key
AuthorizedKeysFile FOLDER/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
`)+lines)
	write(t, d.known, knownhosts.Line([]string{d.address}, host)+"\n")
	argv := append(before, program, "-D", "-e", "-f", filepath.Join(folder, "config"))
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	says := new(strings.Builder)
	cmd.Stderr = says
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(cmd) })
	waitFor(t, "sshd answers", func() bool {
		c, err := net.DialTimeout("tcp", d.address, time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return d
}

// waitFor asks again and again: for what tells nobody when it changes.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		if holds() {
			return
		}
	}
	t.Fatalf("waited %v in vain: %s", patience, what)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func writeKey(t *testing.T, path string) ssh.PublicKey {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(pem.EncodeToMemory(block)))
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// reach is how the controller reaches a host behind d: the agent is this test's binary.
func (d *sshd) reach(host string, c *Credentials, dial Dial) *SSH {
	return &SSH{Host: host, Address: d.address, User: d.user, Keys: []string{d.key}, KnownHosts: []string{d.known},
		Binaries: map[string]string{runtime.GOOS + "/" + runtime.GOARCH: os.Args[0]},
		Folder:   filepath.Join(d.home, token(host)), Credentials: c, Dial: dial, Leave: true}
}

func sshMesh(t *testing.T, hosts []string) *mesh {
	d := startSSHD(t)
	m := &mesh{keys: testKeyring(t), archive: newTestArchive()}
	s, credentials := testServer(t, m.keys, "", hosts)
	m.serve(t, HubConfig{Keys: m.keys, Server: s, Log: testLog(t)})
	m.start = func(t *testing.T, host string) func() {
		r := d.reach(host, credentials[host], s.Dial)
		r.Folder = filepath.Join(d.home, "shared") // one push serves both hosts
		r.Log = testLog(t)
		return startSSH(t, r)
	}
	return m
}

func startSSH(t *testing.T, r *SSH) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		defer close(done)
		if err := r.Serve(ctx); err != nil {
			t.Errorf("SSH: %v", err)
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// sshHost is a mesh with one host behind SSH.
func sshHost(t *testing.T) (*mesh, *SSH, *sshd) {
	t.Helper()
	d := startSSHD(t)
	m := &mesh{keys: testKeyring(t), archive: newTestArchive()}
	s, credentials := testServer(t, m.keys, "", []string{"ucl"})
	m.serve(t, HubConfig{Keys: m.keys, Server: s, Log: testLog(t)})
	r := d.reach("ucl", credentials["ucl"], s.Dial)
	r.Log = testLog(t)
	return m, r, d
}

// processes whose program lies in a folder.
func processes(t *testing.T, folder string) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range all {
		var pid int
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, folder+"/") {
			if _, err := fmt.Sscanf(link, "/proc/%d/exe", &pid); err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

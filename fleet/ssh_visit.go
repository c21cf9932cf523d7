package fleet

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/pathwise-net/pathwise/input"
)

// Visit runs this program on a host that is reached by SSH, in a new folder that only the user may read, and that is removed at the end.
//
// The shell that made the folder runs the program that Start names, and takes the folder away when that has ended, whatever for. The program
// has to end when its standard input does, or when nothing came through it for a while: then nothing stays on the host where this process is
// killed or the network between is cut, either.
type Visit struct {
	Folder string     // on the host; "": nothing was put there
	Size   int64      // of the binary, in bytes
	Hash   string     // SHA-256 of the binary, in hexadecimal digits
	Local  netip.Addr // the host's own address at which the connection arrived, which differs from Remote behind address translation
	Remote netip.Addr // to which this process connected
	Peer   netip.Addr // from which the connection came, as the host sees it
	Stdout io.Reader  // what the program prints

	ssh      *SSH
	client   *ssh.Client
	session  *ssh.Session
	stdin    io.WriteCloser
	says     *lines
	over     chan struct{}      // closed when the program has ended
	stop     context.CancelFunc // ends what keeps the visit alive
	keeping  sync.WaitGroup
	closing  sync.Once
	platform string
	file     string
}

// VisitBeat is how often a Visit writes a line to the program's standard input, so that it knows that somebody is still there.
const VisitBeat = 10 * time.Second

// Visit logs in and finds out the host's platform and addresses. It puts nothing there: Start does. Close ends it.
func (s *SSH) Visit(ctx context.Context) (*Visit, error) {
	if err := s.validateReach(); err != nil {
		return nil, err
	}
	client, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	v := &Visit{ssh: s, client: client}
	if v.platform, v.file, err = s.platform(ctx, client); err == nil {
		err = v.locate(ctx)
	}
	if err != nil {
		client.Close()
		return nil, err
	}
	return v, nil
}

// locate finds out between which addresses the connection is.
func (v *Visit) locate(ctx context.Context) error {
	if a, ok := v.client.RemoteAddr().(*net.TCPAddr); ok {
		v.Remote = a.AddrPort().Addr().Unmap()
	}
	out, err := command(ctx, v.client, `echo "$SSH_CONNECTION"`, nil)
	if err != nil {
		return fmt.Errorf("ask %s for its address: %w", v.ssh.Host, err)
	}
	const fields = 4 // of the client: address, port; of the server: address, port
	if f := strings.Fields(out); len(f) == fields {
		v.Local, _ = netip.ParseAddr(f[2]) // a server that does not say it leaves it open
		v.Peer, _ = netip.ParseAddr(f[0])
		v.Local, v.Peer = v.Local.Unmap(), v.Peer.Unmap()
	}
	return nil
}

// visitScript makes the folder where there is room for the binary and programs may run, takes the binary from standard input, checks it, says
// the folder's name on a line, and runs the program. The folder goes with the shell.
const visitScript = `umask 077
folder= why=
trap '[ -z "$folder" ] || rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM PIPE
for base in "${TMPDIR:-/tmp}" "$HOME"; do
  if ! made=$(mktemp -d "$base/pathwise-XXXXXXXXXX" 2>&1); then why="$why; $made"; continue; fi
  folder=$made
  printf '#!/bin/sh\nexit 0\n' >"$folder/try"
  if said=$(chmod 700 "$folder/try" 2>&1 && "$folder/try" 2>&1 && head -c SIZE /dev/zero 2>&1 >"$folder/pathwise"); then break; fi
  rm -rf "$folder"
  folder= why="$why; in $base: ${said:-it cannot be written}"
done
if [ -z "$folder" ]; then echo "no folder has room for SIZE bytes and lets programs run${why}" >&2; exit 1; fi
rm -f "$folder/try"
head -c SIZE >"$folder/pathwise" || exit 1
if command -v sha256sum >/dev/null; then
  sum=$(sha256sum <"$folder/pathwise"); sum=${sum%% *}
  if [ "$sum" != HASH ]; then echo "what arrived has the SHA-256 sum $sum and not HASH" >&2; exit 1; fi
elif [ "$(wc -c <"$folder/pathwise")" -ne SIZE ]; then echo "what arrived is not SIZE bytes" >&2; exit 1; fi
chmod 700 "$folder/pathwise" || exit 1
echo "$folder"
"$folder/pathwise" ARGUMENTS
exit $?`

// Start pushes the binary and runs it with arguments; what it prints is read from Stdout. It returns when the binary is there.
func (v *Visit) Start(ctx context.Context, arguments ...string) error {
	binary, err := os.ReadFile(v.file)
	if err != nil {
		return fmt.Errorf("read binary for %s: %w", v.platform, err)
	}
	hash := sha256.Sum256(binary)
	v.Size, v.Hash = int64(len(binary)), hex.EncodeToString(hash[:])
	script := strings.NewReplacer("SIZE", fmt.Sprint(v.Size), "HASH", v.Hash, "ARGUMENTS", words(arguments)).Replace(visitScript)
	if err := v.open(ctx, script); err != nil {
		return fmt.Errorf("start on %s: %w", v.ssh.Host, err)
	}
	// An input cannot be closed while it is written to: the session is, and the host sees the input's end.
	left := context.AfterFunc(ctx, v.breakOff)
	defer left()
	pushed := make(chan error, 1)
	go func() { // ends with the session at the latest
		_, err := io.Copy(v.stdin, bytes.NewReader(binary))
		pushed <- err
	}()
	name, err := readLine(v.Stdout)
	if err != nil {
		_ = v.session.Close()
		<-v.over
		<-pushed
		return cmp.Or(context.Cause(ctx), fmt.Errorf("push binary to %s: %s", v.ssh.Host, v.says.last()))
	}
	if err := <-pushed; err != nil {
		return fmt.Errorf("push binary to %s: %w", v.ssh.Host, err)
	}
	v.Folder = name
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	alive, stop := context.WithCancel(context.WithoutCancel(ctx))
	v.stop = stop
	v.keeping.Go(func() { keepAlives(alive, v.client) })
	v.keeping.Go(func() {
		defer v.stdin.Close() // which ends the program
		for sleep(alive, VisitBeat) {
			if _, err := io.WriteString(v.stdin, "\n"); err != nil {
				return
			}
		}
	})
	return nil
}

// breakOff closes the session, upon which the program on the host ends. Where that takes longer than endTime, as when the network is cut, it
// closes the connection as well.
func (v *Visit) breakOff() {
	_ = v.session.Close()
	select {
	case <-v.over:
	case <-time.After(endTime):
		_ = v.client.Close()
	}
}

// open starts a script on the host, which Visit.over tells the end of. Without one there is nothing to end.
func (v *Visit) open(ctx context.Context, script string) (err error) {
	if v.session, err = newSession(ctx, v.client); err != nil {
		return err
	}
	v.says = &lines{log: logger(v.ssh.Log).With("host", v.ssh.Host)}
	v.session.Stderr = v.says
	if v.stdin, err = v.session.StdinPipe(); err != nil {
		return err
	}
	if v.Stdout, err = v.session.StdoutPipe(); err != nil {
		return err
	}
	if err := v.session.Start(shell(script)); err != nil {
		return err
	}
	over := make(chan struct{})
	v.over = over
	go func() { // ends with the session, which Close and a lost connection end
		_ = v.session.Wait() // its last line on standard error tells more than the exit status
		close(over)
	}()
	return nil
}

// readLine reads what a program prints up to the end of a line, and nothing beyond it.
func readLine(r io.Reader) (string, error) {
	var line []byte
	for one := make([]byte, 1); len(line) < maxSays; {
		if _, err := io.ReadFull(r, one); err != nil {
			return "", err
		}
		if one[0] == '\n' {
			return string(line), nil
		}
		line = append(line, one[0])
	}
	return "", errors.New("it prints a line without an end")
}

// Over is closed when the program of Start has ended, or the connection has.
func (v *Visit) Over() <-chan struct{} { return v.over }

// Says is the last line that the program of Start complained in.
func (v *Visit) Says() string { return v.says.last() }

// Run runs the binary that is there once more, beside the program of Start, as SSH.Run does.
func (v *Visit) Run(ctx context.Context, out io.Writer, arguments ...string) (status int, says string, err error) {
	if v.Folder == "" {
		return 0, "", input.Errorf("run on %s: nothing was started there", v.ssh.Host)
	}
	complaints := &lines{log: logger(v.ssh.Log).With("host", v.ssh.Host)}
	status, err = v.ssh.execute(ctx, v.client, out, complaints, append([]string{v.Folder + "/pathwise"}, arguments...))
	return status, complaints.last(), err
}

// Close ends the program of Start, waits until its folder is removed, and closes the connection. It returns an error where the program did
// not end within endTime, where the folder is still there, and where the connection was lost, so that neither is known. A second call has
// no effect and returns nil.
func (v *Visit) Close() (err error) {
	v.closing.Do(func() { err = v.leave() })
	return err
}

// leftScript says whether a folder is still there, after the second or two that the shell may take to remove it.
const leftScript = `for _ in 1 2 3; do [ -e FOLDER ] || break; sleep 1; done; [ -e FOLDER ] && echo yes || echo no`

func (v *Visit) leave() error {
	defer v.keeping.Wait()
	defer v.client.Close()
	if v.over == nil {
		return nil
	}
	if v.stop != nil {
		v.stop()
	} else {
		_ = v.session.Close() // it may have ended in between
	}
	select {
	case <-v.over:
	case <-time.After(endTime):
		return fmt.Errorf("end pathwise on %s: it was still running %v after its input closed", v.ssh.Host, endTime)
	}
	if v.Folder == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	there, err := command(ctx, v.client, strings.ReplaceAll(leftScript, "FOLDER", quote(v.Folder)), nil)
	if err != nil {
		return fmt.Errorf("the SSH connection to %s was lost: pathwise ends there by itself, and takes %s away: %w", v.ssh.Host, v.Folder, err)
	}
	if strings.TrimSpace(there) != "no" {
		return fmt.Errorf("%s is left on %s", v.Folder, v.ssh.Host)
	}
	return nil
}

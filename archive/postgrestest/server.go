// Package postgrestest runs a PostgreSQL server for a test or a benchmark, and ends it with everything that it left.
// The server listens on a Unix socket only. It is not for keeping anything.
package postgrestest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrNone says that PostgreSQL is not installed.
var ErrNone = errors.New("no PostgreSQL server is installed (Debian: postgresql)")

// Server is a PostgreSQL server of its own.
type Server struct {
	folder  string
	bin     string
	user    *syscall.Credential // nil: our own
	options []string
	process *exec.Cmd
	output  bytes.Buffer
}

// Start makes a database cluster in a new folder and starts a server, which ends with this process at the latest.
// Options are settings such as "shared_buffers=256MB". It returns ErrNone if there is no PostgreSQL.
func Start(ctx context.Context, options ...string) (*Server, error) {
	bin, err := find()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "pathwise-pg-")
	if err != nil {
		return nil, err
	}
	s := &Server{folder: folder, bin: bin, options: options}
	if err = s.init(ctx); err == nil {
		err = s.Run(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return s, nil
}

// find returns where initdb and postgres are: Debian keeps them out of the path.
func find() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		path, err = filepath.EvalSymlinks(path)
		return filepath.Dir(path), err
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", ErrNone
	}
	return filepath.Dir(slices.Max(found)), nil
}

// init makes the cluster. PostgreSQL refuses to run as root, so root lends it to nobody.
func (s *Server) init(ctx context.Context) error {
	if os.Getuid() == 0 {
		nobody, err := user.Lookup("nobody")
		if err != nil {
			return err
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		gid, _ := strconv.Atoi(nobody.Gid)
		s.user = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(s.folder, uid, gid); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "initdb"), "-D", filepath.Join(s.folder, "data"), "-U",
		"pathwise", "-A", "trust",
		"-E", "UTF8", "--no-locale", "--no-sync")
	cmd.Dir, cmd.SysProcAttr = s.folder, &syscall.SysProcAttr{Credential: s.user}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make database cluster: %w\n%s", err, out)
	}
	return nil
}

// Run starts the server, again if it was killed, and returns when it answers.
func (s *Server) Run(ctx context.Context) error {
	args := []string{"-D", filepath.Join(s.folder, "data"), "-k", s.folder, "-c", "listen_addresses="}
	for _, o := range s.options {
		args = append(args, "-c", o)
	}
	s.output.Reset()
	s.process = exec.Command(filepath.Join(s.bin, "postgres"), args...)
	s.process.Dir, s.process.Stdout, s.process.Stderr = s.folder, &s.output, &s.output
	// SIGQUIT makes it end at once, and its children with it.
	s.process.SysProcAttr = &syscall.SysProcAttr{Credential: s.user, Pdeathsig: syscall.SIGQUIT}
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	deadline := time.Now().Add(time.Minute) // it may have much to recover, on a busy machine
	for {
		conn, err := pgx.Connect(ctx, s.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			s.end(syscall.SIGQUIT)
			return fmt.Errorf("wait for postgres: %w\n%s", err, &s.output)
		}
		time.Sleep(20 * time.Millisecond) // there is nothing to wait on
	}
}

// URL is where a database of the server is.
func (s *Server) URL(database string) string {
	return "postgres://pathwise@/" + database + "?" + url.Values{"host": {s.folder}}.Encode()
}

// Create makes a new, empty database and returns its URL.
func (s *Server) Create(ctx context.Context, database string) (string, error) {
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{database}.Sanitize()); err != nil {
		return "", err
	}
	return s.URL(database), nil
}

// CPU is how much processor time the server has used, with those of its children that live and those that have ended.
func (s *Server) CPU() (total time.Duration, err error) {
	server := strconv.Itoa(s.process.Process.Pid)
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state ppid ... utime stime cutime cstime are fields 14 to 17: proc(5). A name may hold anything.
		f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		own := filepath.Base(filepath.Dir(path)) == server
		if len(f) < 15 || !own && string(f[1]) != server {
			continue
		}
		for i, ticks := range f[11:15] {
			n, _ := strconv.Atoi(string(ticks))
			if i < 2 || own {
				total += time.Duration(n) * 10 * time.Millisecond
			}
		}
	}
	return total, err
}

// Kill ends the server as kill -9 does; its children notice and end.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

func (s *Server) end(signal syscall.Signal) {
	s.process.Process.Signal(signal)
	s.process.Wait() // how it ended does not matter
}

// Stop ends the server and deletes its folder.
func (s *Server) Stop() error {
	s.end(syscall.SIGQUIT)
	return os.RemoveAll(s.folder)
}

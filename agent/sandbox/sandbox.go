// Package sandbox keeps the programs that an agent starts away from what the agent keeps: its keys, its plan, its spool, its
// memory. It runs them as another user where this process is root, and within Landlock where it is not.
//
// It does not bound what they take of the host, nor what else of it they may read or send: package agent does the first, the
// host's owner the second, by the programs that the policy names.
package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Sandbox starts programs. Make it with New.
type Sandbox struct {
	hide       []string            // absolute, without symbolic links
	credential *syscall.Credential // nil: by Landlock
	home       string
}

// nobody is who programs of root's agent are, if the owner names nobody else: it has no file and no right of its own.
const nobody = "nobody"

// New makes a sandbox that hides files and folders, which must exist. As root, programs run as the user of that name or number,
// "" for nobody; otherwise it must be "". The error says that this host can keep programs away from nothing.
func New(as string, hide ...string) (*Sandbox, error) {
	s := &Sandbox{}
	for _, path := range hide {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if err != nil {
			return nil, fmt.Errorf("hide %s from programs: %w", path, err)
		}
		s.hide = append(s.hide, real)
	}
	if os.Geteuid() != 0 && as != "" {
		return nil, fmt.Errorf("run programs as %s: this process is not root", as)
	}
	if os.Geteuid() == 0 {
		if err := s.become(as); err != nil {
			return nil, err
		}
	}
	if s.credential == nil && landlockVersion() < 1 {
		return nil, fmt.Errorf("this kernel has no Landlock, so programs could read the agent's keys: run the agent as root, " +
			"which starts them as another user, or enable Landlock")
	}
	// Nobody but root may trace this process or look into its memory, and it leaves no core: the thread that starts a program
	// shares both with the agent, and is in the sandbox with the program.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("close this process to others: %w", err)
	}
	return s, nil
}

// become finds the user that programs are. One that this namespace does not have leaves it to Landlock.
func (s *Sandbox) become(as string) error {
	name := as
	if name == "" {
		name = nobody
	}
	u, err := user.Lookup(name)
	if err != nil {
		u, err = user.LookupId(name)
	}
	if err != nil && as == "" {
		u, err = &user.User{Uid: "65534", Gid: "65534", HomeDir: "/nonexistent"}, nil // where /etc/passwd lacks it
	}
	if err != nil {
		return fmt.Errorf("run programs as %s: %w", name, err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return fmt.Errorf("run programs as %s: %w", name, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return fmt.Errorf("run programs as %s: %w", name, err)
	}
	if uid == 0 {
		return fmt.Errorf("run programs as %s: root's could read the agent's keys; name another user", name)
	}
	if !mapped("uid", uid) || !mapped("gid", gid) || !maySetGroups() {
		return nil
	}
	s.credential, s.home = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), Groups: []uint32{}}, u.HomeDir
	return nil
}

// mapped says whether this user namespace has a number (user_namespaces(7)): in one of an ordinary user there is root alone.
func mapped(kind string, id uint64) bool {
	text, err := os.ReadFile("/proc/self/" + kind + "_map")
	if err != nil {
		return true // a kernel without user namespaces
	}
	for line := range strings.Lines(string(text)) {
		var inside, outside, count uint64
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err == nil && id >= inside && id-inside < count {
			return true
		}
	}
	return false
}

func maySetGroups() bool {
	text, err := os.ReadFile("/proc/self/setgroups")
	return err != nil || strings.TrimSpace(string(text)) == "allow"
}

// Prepare makes a program start in the sandbox. It must be called on a locked thread that starts the program and nothing
// else, and that ends with it: the thread is in the sandbox, too, from now on.
func (s *Sandbox) Prepare(c *exec.Cmd) error {
	if s.credential == nil {
		if dir := scratch(s.hide, os.TempDir()); dir != "" {
			c.Env = append(without(c.Env, "TMPDIR="), "TMPDIR="+dir)
		}
		return restrict(s.hide)
	}
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Credential = s.credential
	c.Dir = "/" // this process's own may be closed to that user
	c.Env = append(without(c.Env, "HOME="), "HOME="+s.home)
	return nil
}

// without is an environment without a variable, which stands with its equals sign.
func without(env []string, variable string) []string {
	return slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, variable) })
}

// scratch is where programs within Landlock can make their temporary files: nowhere in a folder that leads to what is hidden, as
// where an agent keeps its own below /tmp. It is "" where the usual folder will do, or none does.
func scratch(hide []string, usual string) string {
	for _, dir := range []string{usual, "/tmp", "/var/tmp", "/dev/shm"} {
		leads := slices.ContainsFunc(hide, func(path string) bool {
			return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
		})
		switch {
		case leads:
		case dir == usual:
			return ""
		default:
			return dir
		}
	}
	return ""
}

// Become makes this thread, which must be locked and end soon, the user that programs are.
func (s *Sandbox) Become() error {
	if s.credential == nil {
		return nil
	}
	uid, gid := uintptr(s.credential.Uid), uintptr(s.credential.Gid)
	// The functions of package unix would change all threads.
	for _, call := range []struct{ number, a, b, c uintptr }{
		{unix.SYS_SETGROUPS, 0, 0, 0}, {unix.SYS_SETRESGID, gid, gid, gid}, {unix.SYS_SETRESUID, uid, uid, uid},
	} {
		if _, _, errno := unix.RawSyscall(call.number, call.a, call.b, call.c); errno != 0 {
			return fmt.Errorf("become user %d: %w", uid, errno)
		}
	}
	return nil
}

// Way says how programs are kept away, for people.
func (s *Sandbox) Way() string {
	if s.credential != nil {
		return fmt.Sprintf("as user %d", s.credential.Uid)
	}
	return "within Landlock"
}

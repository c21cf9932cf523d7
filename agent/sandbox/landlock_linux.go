package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock (landlock(7)) grants and never denies: all that is not granted is closed. So everything beside the hidden paths and
// the folders that lead to them is granted. In those folders themselves a program can neither list nor make anything.
const (
	rightsOfFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	rightsOfAll   = rightsOfFiles | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM

	versionRefer    = 2 // from which renaming between folders can be granted
	versionTruncate = 3
	versionScope    = 6 // from which programs can be kept from signalling this process
)

// landlockVersion returns the version of the kernel's Landlock interface, below 1 where there is none.
func landlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// restrict closes paths to this thread and to all that it starts. Landlock also keeps them from tracing any process that it
// does not restrict, and so from its memory, its environment and its open files.
func restrict(hide []string) error {
	version := landlockVersion()
	files, all := uint64(rightsOfFiles), uint64(rightsOfAll)
	if version >= versionRefer {
		all |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= versionTruncate {
		files, all = files|unix.LANDLOCK_ACCESS_FS_TRUNCATE, all|unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: all}
	size := unsafe.Offsetof(attr.Handled_access_net) // older kernels know no more
	if version >= versionScope {
		attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL
		size = unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("make Landlock rules: %w", errno)
	}
	defer unix.Close(int(fd))
	folders, beside := around(hide)
	for _, path := range beside {
		rights := files
		if slices.Contains(folders, path) {
			rights = all
		}
		if err := grant(int(fd), path, rights); err != nil {
			return fmt.Errorf("open %s to programs: %w", path, err)
		}
	}
	_, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0)
	if errno == unix.EPERM { // asked of who is not root: set-user-ID programs have no more rights than others then
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("give up privileges: %w", err)
		}
		_, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0)
	}
	if errno != 0 {
		return fmt.Errorf("restrict programs by Landlock: %w", errno)
	}
	return nil
}

// around lists what is beside hidden paths, on each level from the root down, and which of it are folders. Symbolic links are
// left out: what they lead to is granted by itself, or is not.
func around(hide []string) (folders, beside []string) {
	way := map[string]bool{}
	for _, path := range hide {
		for p := path; p != "/"; {
			p = filepath.Dir(p)
			way[p] = true
		}
	}
	for folder := range way {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // closed to this process, so to its programs
		}
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			if way[path] || slices.Contains(hide, path) || e.Type()&fs.ModeSymlink != 0 {
				continue
			}
			beside = append(beside, path)
			if e.IsDir() {
				folders = append(folders, path)
			}
		}
	}
	return folders, beside
}

// grant opens a file, or a folder with all in it. What is gone, or closed to this process, is passed over.
func grant(rules int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 && errno != unix.EBADFD && errno != unix.EINVAL { // no place for a rule, such as a pipe; or replaced meanwhile
		return errno
	}
	return nil
}

package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
)

// install makes sure that the binary for the host's platform is there, and returns its path. What it is called holds a
// hash of it, and it gets its name only when it is whole, so that a name and a length tell all.
func (s *SSH) install(ctx context.Context, client *ssh.Client, log *slog.Logger) (string, error) {
	platform, file, err := s.platform(ctx, client)
	if err != nil {
		return "", err
	}
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("read binary for %s: %w", platform, err)
	}
	defer f.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return "", fmt.Errorf("read binary for %s: %w", platform, err)
	}
	target := s.folder() + "/pathwise-" + hex.EncodeToString(hash.Sum(nil)[:8])
	there, err := command(ctx, client, fmt.Sprintf(`[ -x %[1]s ] && wc -c <%[1]s || echo 0`, quote(target)), nil)
	if err != nil {
		return "", fmt.Errorf("look for binary on %s: %w", s.Host, err)
	}
	if strings.TrimSpace(there) == strconv.FormatInt(size, 10) {
		return target, nil
	}
	log.Info("pushing binary", "platform", platform, "bytes", size)
	if _, err := command(ctx, client, pushScript(s.folder(), target, size), f); err != nil {
		return "", fmt.Errorf("push binary to %s: %w", s.Host, err)
	}
	return target, nil
}

// pushScript takes the binary from standard input, whole or not at all, and drops older ones.
func pushScript(folder, target string, size int64) string {
	return fmt.Sprintf(`umask 077
folder=%s target=%s
mkdir -p "$folder" || exit 1
new="$folder/.new.$$"
if cat >"$new" && [ "$(wc -c <"$new")" -eq %d ] && chmod 700 "$new" && mv -f "$new" "$target"; then
  for old in "$folder"/pathwise-*; do [ "$old" = "$target" ] || rm -f "$old"; done
else
  rm -f "$new"
  exit 1
fi`, quote(folder), quote(target), size)
}

// remove takes away what install and the agent made, and nothing else that may be in the folder.
func (s *SSH) remove(ctx context.Context, client *ssh.Client) error {
	script := fmt.Sprintf(`cd %s || exit 0
rm -rf state pathwise-* .new.* || exit 1
here=$(pwd)
cd .. && rmdir "$here" 2>/dev/null && rmdir "$(pwd)" 2>/dev/null
exit 0`, quote(s.folder()))
	if s.Folder != "" { // what is above is the user's
		script = strings.Replace(script, ` && rmdir "$(pwd)" 2>/dev/null`, "", 1)
	}
	if _, err := command(ctx, client, script, nil); err != nil {
		return fmt.Errorf("take what was pushed off %s: %w", s.Host, err)
	}
	return nil
}

// maxOutput of a command of ours: it prints a word.
const maxOutput = 4 << 10

// command runs a script on the host and returns what it prints. The end of ctx ends it.
func command(ctx context.Context, client *ssh.Client, script string, stdin io.Reader) (string, error) {
	session, err := newSession(ctx, client)
	if err != nil {
		return "", err
	}
	defer session.Close()
	stop := context.AfterFunc(ctx, func() { session.Close() })
	defer stop()
	var out, wrong capped
	session.Stdin, session.Stdout, session.Stderr = stdin, &out, &wrong
	if err := session.Run(shell(script)); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if text := strings.TrimSpace(wrong.String()); text != "" {
			return "", fmt.Errorf("%w: %s", err, text)
		}
		return "", err
	}
	return out.String(), nil
}

// capped keeps the beginning of what is written to it.
type capped struct{ bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	c.Buffer.Write(p[:min(len(p), maxOutput-c.Len())])
	return len(p), nil
}

// platform asks the host what it is, and finds the binary for it.
func (s *SSH) platform(ctx context.Context, client *ssh.Client) (platform, file string, err error) {
	out, err := command(ctx, client, "uname -sm", nil)
	if err != nil {
		return "", "", fmt.Errorf("ask %s for its platform: %w", s.Host, err)
	}
	if platform, err = goPlatform(out); err != nil {
		return "", "", fmt.Errorf("platform of %s: %w", s.Host, err)
	}
	file, ok := s.Binaries[platform]
	if !ok {
		have := slices.Sorted(maps.Keys(s.Binaries))
		system, arch, _ := strings.Cut(platform, "/")
		return platform, "", fmt.Errorf("%s is %s, and there is no binary for it, only for %s: build one with GOOS=%s GOARCH=%s%s",
			s.Host, platform, strings.Join(have, ", "), system, arch, s.beside(system, arch))
	}
	return platform, file, nil
}

// beside says where a binary for another platform is looked for.
func (s *SSH) beside(system, arch string) string {
	if s.BinariesIn == "" {
		return ""
	}
	return fmt.Sprintf(", and put it into %s as pathwise-%s-%s", s.BinariesIn, system, arch)
}

// goPlatform translates what `uname -sm` prints.
func goPlatform(uname string) (string, error) {
	system, machine, ok := strings.Cut(strings.TrimSpace(uname), " ")
	machines := map[string]string{"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64",
		"armv7l": "arm", "armv6l": "arm", "i386": "386", "i686": "386", "riscv64": "riscv64", "ppc64le": "ppc64le", "s390x": "s390x"}
	arch, known := machines[machine]
	if !ok || !known || strings.ContainsAny(system, " /\n") {
		return "", errors.New("uname -sm says " + fmt.Sprintf("%.80q", uname))
	}
	return strings.ToLower(system) + "/" + arch, nil
}

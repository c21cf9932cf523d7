package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

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
		return platform, "", fmt.Errorf("%s is %s, and there is no binary for it, only for %s: build one with GOOS and GOARCH set",
			s.Host, platform, strings.Join(have, ", "))
	}
	return platform, file, nil
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

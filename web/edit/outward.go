package edit

import (
	"context"
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/config"
)

// Outward is a change that a program with a token may not make: of what leads out of the controller's machine, such as where
// metrics are pushed to, which programs hosts run, and which files hold secrets.
type Outward struct {
	Keys []string // that would change; none: what is on disk has errors, so that it cannot be told
}

func (o *Outward) Error() string {
	const who = "an administrator who signed in on the page Configuration can, or whoever edits the file on the controller's machine"
	if len(o.Keys) == 0 {
		return "the mesh file on disk has errors, which a token may not mend: " + who
	}
	keys, more := o.Keys, ""
	if n := len(keys) - maxNamed; n > 0 {
		keys, more = keys[:maxNamed], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(keys, ", ") + more + ": a token may not change what leads out of the controller's machine: " + who
}

// refuseOutward returns an *Outward if a mesh leads out of the controller's machine otherwise than the version that it began from.
func (b *Book) refuseOutward(ctx context.Context, from string, to *config.Mesh) error {
	now, before, err := b.known()
	if err != nil {
		return err
	}
	version := versionOf(now)
	if version != from {
		return ErrStale
	}
	if before.version != version {
		if before, err = b.judgeInTurn(ctx, now); err != nil {
			return err
		}
	}
	return outward(before.mesh, to)
}

// outward returns an *Outward, or nil. from is nil if what is on disk has errors.
func outward(from, to *config.Mesh) error {
	if from == nil {
		return &Outward{}
	}
	if keys := to.Outward(from); len(keys) > 0 {
		return &Outward{keys}
	}
	return nil
}

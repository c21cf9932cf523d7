package transact

import (
	"errors"
	"fmt"
	"time"
)

// ErrBusy: the responder makes as many tests as it may, or does not know the secret. Beside it there are the sentinels of package endpoint.
var ErrBusy = errors.New("the responder is busy with other tests; try again later")

// ErrAcks: the responder is of a build that leaves acknowledgements to its kernel.
var ErrAcks = errors.New("the responder cannot set when it acknowledges: run this build of Pathwise there, or leave that out")

// errForeign: what came is not of this protocol.
var errForeign = errors.New("the far end does not speak this protocol: is it a Pathwise responder?")

// TooLongError is a test that would take longer than the responder lets one.
type TooLongError struct{ Asked, Allowed time.Duration }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("a test of up to %v was refused: the responder lets one take %v", e.Asked, e.Allowed)
}

package fleet

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pathwise-net/pathwise/measure"
)

// Unread is a run of a plan that this build cannot read, as one of a newer controller may be.
type Unread struct {
	Run measure.Run // as far as it could be read
	Why error
}

// UnmarshalJSON reads a plan. What cannot be read of its runs goes to Unread, and of its openings is left out: the rest of the
// plan is as good as it was.
func (p *Plan) UnmarshalJSON(data []byte) error {
	type plain Plan // has no methods
	if json.Unmarshal(data, (*plain)(p)) == nil {
		return nil
	}
	*p = Plan{}
	parts := struct {
		*plain
		Runs  []json.RawMessage `json:"runs"`
		Opens []json.RawMessage `json:"opens"`
	}{plain: (*plain)(p)}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, text := range parts.Runs {
		var r measure.Run
		if err := json.Unmarshal(text, &r); err != nil {
			p.Unread = append(p.Unread, Unread{r, fmt.Errorf("%w: %w", errNotRead, err)})
			continue
		}
		p.Runs = append(p.Runs, r)
	}
	for _, text := range parts.Opens {
		var o Opening
		if json.Unmarshal(text, &o) == nil {
			p.Opens = append(p.Opens, o)
		}
	}
	return nil
}

var errNotRead = errors.New("this agent's build cannot read it; its controller may be newer")

package edit

import (
	"context"
	"errors"
	"fmt"
)

// Change is what somebody wants saved.
type Change struct {
	From    string // the Version that they began from
	Files   []File // all of them: one that is missing is removed
	By      string // who
	Comment string

	// RefuseOutward is for a program with a token, which may not change what leads out of the controller's machine: see Outward.
	RefuseOutward bool
}

// ErrStale says that a proposal began from what is not on disk any more.
var ErrStale = errors.New("somebody changed the mesh file since you began: look at what they did, and check again")

// Save replaces the mesh files, and returns the version that they are now. What is wrong with them is a *Wrong or other bad input;
// ErrStale if somebody else was first. After an error the files are as they were, unless it says otherwise.
//
// Each file is replaced at once, by durable.Rewrite, so that whoever reads it sees the old one or the new one. When several
// change, a journal beside them says first what each is to be: what a kill or a power cut leaves half done is finished by
// Recover before the controller starts again, and what a full disk leaves half done is undone. Nobody can lock out an
// editor on the controller's machine: what that saves in the same few milliseconds is replaced, and not in the history.
func (b *Book) Save(ctx context.Context, c Change) (Version, error) {
	files, err := b.proposed(c.Files)
	if err != nil {
		return Version{}, err
	}
	j, err := b.judgeInTurn(ctx, files)
	if err != nil {
		return Version{}, err
	}
	if j.problems != nil {
		return Version{}, &Wrong{j.problems}
	}
	if c.RefuseOutward {
		if err := b.refuseOutward(ctx, c.From, j.mesh); err != nil {
			return Version{}, err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := Recover(b.options.Mesh); err != nil {
		return Version{}, err
	}
	now, err := b.read()
	if err != nil {
		return Version{}, err
	}
	if versionOf(now) != c.From {
		return Version{}, ErrStale
	}
	b.history.adopt(versionOf(now))
	if err := b.note(now); err != nil { // what is replaced must be in the history
		return Version{}, err
	}
	if j.version == c.From {
		v, _ := b.history.newest()
		return v, nil
	}
	v, err := b.history.draft(Version{At: b.options.Now(), By: c.By, Comment: c.Comment, Version: j.version}, files)
	if err != nil {
		return Version{}, err
	}
	if half, err := b.replace(now, files); err != nil {
		if half {
			return Version{}, fmt.Errorf("save mesh file: %w", err)
		}
		b.history.drop(v)
		return Version{}, fmt.Errorf("save mesh file: %w; nothing was changed", err)
	}
	b.before = j
	if err := b.history.commit(v); err != nil { // the files are saved: what is missing is the note of who did
		b.options.Log.Error("save mesh file", "error", err)
	}
	return v, nil
}

// judgeInTurn is judge, one at a time. Whatever panics in it, it is the next one's turn.
func (b *Book) judgeInTurn(ctx context.Context, files []File) (judged, error) {
	done, err := b.wait(ctx)
	if err != nil {
		return judged{}, err
	}
	defer done()
	return b.judge(ctx, files)
}

// Wrong is a proposal with errors.
type Wrong struct{ Problems []Problem }

func (w *Wrong) Error() string {
	p, more := w.Problems[0], ""
	if n := len(w.Problems) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return p.String() + more
}

// BadInput marks the error as the caller's to mend.
func (w *Wrong) BadInput() bool { return true }

// String is the problem as an editor's list of errors has it.
func (p Problem) String() string {
	text := p.Text
	if p.Line > 0 {
		text = fmt.Sprintf("%d:%d: %s", p.Line, p.Column, text)
	}
	if p.File != "" {
		text = p.File + ":" + text
	}
	return text
}

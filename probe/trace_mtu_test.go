package probe

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// What hops say of a size that is too large is told in a sentence, as well as it is known.
func TestNarrowingLine(t *testing.T) {
	hops := func(reply string, addresses ...string) (all []measure.Hop) {
		for i, a := range addresses {
			h := measure.Hop{TTL: i + 1}
			if a != "" {
				h.Addresses = []string{a}
			}
			all = append(all, h)
		}
		all[len(all)-1].Reply = reply
		return all
	}
	for _, c := range []struct {
		hops []measure.Hop
		want measure.Narrowing
		text string
	}{
		{hops(mtuRefused, "10.0.0.1", "10.0.0.2"), measure.Narrowing{TTL: 2, Before: 3, Bytes: 1400, Address: "10.0.0.2", Refused: true},
			"packets of more than 1400 bytes are refused by hop 2 (10.0.0.2)"},
		{hops(mtuSilence, "10.0.0.1", "10.0.0.2"), measure.Narrowing{TTL: 2, Before: 3, Bytes: 1400, Address: "10.0.0.2"},
			"packets of more than 1400 bytes vanish behind hop 2 (10.0.0.2), and nobody says why: a black hole"},
		{hops(mtuSilence, "10.0.0.1", "", ""), measure.Narrowing{TTL: 1, Before: 4, Bytes: 1400, Address: "10.0.0.1"},
			"packets of more than 1400 bytes vanish behind hop 1 (10.0.0.1) or beyond, before hop 4, and nobody says why: a black hole"},
		{hops(mtuSilence, "", ""), measure.Narrowing{Before: 3, Bytes: 1400},
			"packets of more than 1400 bytes vanish at an unknown hop, and nobody says why: a black hole"},
		{[]measure.Hop{{Addresses: []string{"10.0.0.9"}, Reply: mtuSilence}}, measure.Narrowing{Before: 1, Bytes: 1400, Address: "10.0.0.9"},
			"packets of more than 1400 bytes vanish on the link that this host is on, and nobody says why: a black hole"},
	} {
		got := narrowingOf(c.hops, 1400)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		if text := narrowingLine(got); text != c.text {
			t.Errorf("%q, want %q", text, c.text)
		}
	}
}

func TestNarrowingBackLine(t *testing.T) {
	for want, n := range map[string]measure.Narrowing{
		"on the way back larger packets vanish behind hop 2 from there (10.0.0.2), and nobody says why: a black hole":                                      {TTL: 2, Before: 3, Address: "10.0.0.2"},
		"on the way back larger packets vanish behind hop 2 from there (10.0.0.2) or beyond, where hops answer nothing, and nobody says why: a black hole": {TTL: 2, Before: 5, Address: "10.0.0.2"},
		"on the way back larger packets are refused by hop 2 from there (10.0.0.2)":                                                                        {TTL: 2, Before: 3, Address: "10.0.0.2", Refused: true},
		"on the way back larger packets vanish at an unknown hop, and nobody says why: a black hole":                                                       {Before: 2},
		"on the way back larger packets vanish on the link that the far end is on, and nobody says why: a black hole":                                      {Before: 1, Address: "10.0.0.9"},
		"the far end itself sends no larger packets back":                                                                                                  {Before: 1, Refused: true},
	} {
		if got := narrowingBackLine("larger packets", n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

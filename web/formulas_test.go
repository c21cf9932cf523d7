package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/pathwise-net/pathwise/calc"
)

// Each formula of the list is worked out with its inputs as a query has them, and has something to draw.
func TestFormulas(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(public))
	_, text, _ := b.ask(http.MethodGet, "/api/v1/formulas", "")
	var list struct{ Formulas []calc.Formula }
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Formulas) != len(calc.All()) {
		t.Fatalf("%d formulas, %v: %.300s", len(list.Formulas), err, text)
	}
	_, text, _ = b.ask(http.MethodGet, "/api/v1/formulas/window?in=rtt%3D50ms&in=window%3D64K&in=rate=", "")
	var got formulaDoc
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Name != "window" || len(got.Lines) != 1 || len(got.Curves) != 1 {
		t.Fatalf("%v: %.300s", err, text)
	}
	if l := got.Lines[0]; l.Name != "rate_bits_per_second" || l.Value != 10485760 || l.Text != "10,485,760 bit/s (10.5 Mbit/s)" {
		t.Errorf("the answer is %+v", l)
	}
	if c := got.Curves[0]; c.Mark != (calc.Point{0.05, 10485760}) || len(c.Series) != 1 || !c.X.Log || len(c.Series[0].Points) < 100 {
		t.Errorf("the drawing is %+v", c)
	}
	for query, want := range map[string]string{
		"bdp?in=rate=1k":                  `rtt: \"\": want a duration`,
		"bdp?in=rate=fast&in=rtt=1":       `rate: \"fast\": want a positive rate`,
		"bdp?in=rate=1&in=rtt=1&in=rtt=2": `in: \"rtt=2\": want each input once, as name=value, such as rate=…`,
		"bdp?in=rate":                     `as name=value`,
		"bdp?in=speed=1&in=rate=1&in=rtt": `as name=value`,
		"bdp?in=speed=1&in=rate=1k&in=rtt%3D" + url.QueryEscape("50 ms"): `speed: no such input`,
		"bdp?in=rate=1e308&in=rtt=290h":                                  `out of range`,
		"bdp?rate=1":                                                     `query.rate`,
	} {
		b.expect(http.MethodGet, "/api/v1/formulas/"+query, "", http.StatusUnprocessableEntity, want)
	}
	b.expect(http.MethodGet, "/api/v1/formulas/speed", "", http.StatusNotFound, `want one of bdp`)
}

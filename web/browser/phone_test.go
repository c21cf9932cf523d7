package browser

import (
	"testing"
)

// cut are parts of what matches a selector that stand, wholly or in part, beyond the edge of the screen or in a box that has to be scrolled
// sideways, and fields too narrow for the number in them.
const cut = `((within) => {
	const pen = document.createElement('canvas').getContext('2d');
	const narrow = (e) => {
		const s = getComputedStyle(e);
		pen.font = s.font;
		return e.matches('input[type=number]') && pen.measureText(e.value).width > e.clientWidth - parseFloat(s.paddingLeft) - parseFloat(s.paddingRight) - 16; // where it is stepped
	};
	return [...document.querySelectorAll(within)].flatMap((all) => [all, ...all.querySelectorAll('*')]).filter((e) => {
		const box = e.getBoundingClientRect();
		return box.width > 1 && (box.right > innerWidth + 0.5 || box.left < -0.5 || (e.matches('.scroll') && e.scrollWidth > e.clientWidth + 1) || narrow(e));
	}).map((e) => e.tagName + '.' + e.className + ': ' + (e.value ?? e.textContent.trim().slice(0, 60)));
})('.controls, .timeline, .legend, section[aria-labelledby=routes]')`

// On a phone nothing is cut that one chooses with above a matrix, and no table of routes: all of it is there without scrolling sideways.
func TestPhone(t *testing.T) {
	m := eventfulMesh(t)
	p := open(t, phone, m.url)
	for name, c := range map[string]struct{ hash, ready string }{
		"limits that are chosen":       {"#/?metric=rtt_median_seconds&warn=0.0123456&bad=0.1234567&tool=rtt&test=rtt@all", matrixPainted},
		"limits of a rate":             {"#/?metric=throughput_bits_per_second", matrixPainted},
		"limits that the matrix gives": {"#/?metric=rtt_stddev_seconds&at=2026-01-01T00:30:00Z&span=24h", "document.querySelector('#silent')"},
		"the past":                     {"#/?metric=rtt_median_seconds&colour=past", matrixPainted},
		"routes": {"#/pair/qmul/nikhef?from=-6h&see=routes",
			"(document.querySelector('.later')?.scrollIntoView(), document.querySelectorAll('.routes tbody tr').length > 2 && !document.querySelector('main [aria-busy=true]'))"},
	} {
		t.Run(name, func(t *testing.T) {
			p := p.in(t)
			p.show(c.hash, phone, false)
			p.until(c.ready)
			p.until("document.documentElement.scrollWidth <= innerWidth")
			for _, part := range value[[]string](p, cut) {
				t.Errorf("cut: %s", part)
			}
		})
	}
}

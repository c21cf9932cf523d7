package browser

import (
	"fmt"
	"testing"
)

// What the pages compute, they compute in modules that know of no page: tables of what goes in and comes out, as JavaScript has it.
func TestUnits(t *testing.T) {
	p := open(t, desk, theMesh(t).url)
	for _, c := range []struct{ module, expression, want string }{
		{"format.js", `format(0.0124, 'seconds')`, "12.4 ms"},
		{"format.js", `format(0.00999999, 'seconds')`, "10.0 ms"},
		{"format.js", `format(0, 'seconds')`, "0 ms"},
		{"format.js", `format(85e-6, 'seconds')`, "85.0 µs"},
		{"format.js", `format(119, 'seconds')`, "119 s"},
		{"format.js", `format(7200, 'seconds')`, "2.00 h"},
		{"format.js", `format(94.1e6, 'bits_per_second')`, "94.1 Mbit/s"},
		{"format.js", `format(999.6e3, 'bits_per_second')`, "1.00 Mbit/s"},
		{"format.js", `format(0.0012, 'ratio')`, "0.12 %"},
		{"format.js", `format(1, 'ratio')`, "100 %"},
		{"format.js", `format(0.9999, 'ratio')`, ">99.9 %"},
		{"format.js", `format(0, 'ratio')`, "0 %"},
		{"format.js", `[1500, 9000, 12345].map((v) => format(v, 'bytes')).join()`, "1500 B,9000 B,12.3 kB"},
		{"format.js", `format(9.66e-7, unitOf('clock_skew_ratio')) + ', ' + format(1e-5, unitOf('loss_ratio'))`, "0.966 ppm, 0.001 %"},
		{"format.js", `format(14, 'count')`, "14"},
		{"format.js", `format(1234567, 'packets')`, "1 234 567"},
		{"format.js", `format(null, 'seconds')`, "none"},
		{"format.js", `format(-0.002, 'seconds')`, "−2.00 ms"},
		{"format.js", `share(7 / 801, 801)`, "0.9 % (7 of 801), 0.4 to 1.8 %"},
		{"format.js", `share(1 / 40, 40, true)`, "2.5 % (1 of 40)"},
		{"pair/since.js", `[['2026-11-22T15:00:00Z', {}], ['2026-11-22T16:30:00Z', {}], ['2026-11-22T20:00:00Z', {}], ['2026-11-22T20:00:00Z', {longer: true}]].map(([since, more]) => untold([{aspect: 'loss', since, ...more}], [{ended: null, until: '2026-11-22T15:10:00Z', changed: [{metric: 'loss_ratio'}]}]).length).join()`, "0,0,1,0"},
		{"format.js", `share(7 / 801, 801, true)`, "0.9 % (7 of 801)"},
		{"format.js", `[share(0, 801), share(1, 20), share(0.2, 10), share(0.00123, 1e6), share(0.5, 0), share(null, 9)].join('; ')`,
			"0 % (0 of 801), 0 to 0.5 %; 100 % (20 of 20), 84 to 100 %; 20 % (2 of 10), 6 to 51 %; 0.123 % (1 230 of 1 000 000), 0.116 to 0.130 %; 50 %; none"},
		{"format.js", `unitOf('throughput_bits_per_second') + ' ' + unitOf('odd')`, "bits_per_second "},
		{"format.js", `[0, 0.004, 2.5, 12.44, 156.3, 123456].map((v) => short(v, 1)).join(' ')`, "0 <0.01 2.50 12.4 156 123k"},

		{"times.js", `parseTime('-1d', 1e12)`, "999913600000"},
		{"times.js", `parseTime('-90x', 1e12)`, "null"},
		{"times.js", `parseTime('2026-11-22T00:00:00Z', 0)`, "1795305600000"},
		{"times.js", `rfc(1795305600000)`, "2026-11-22T00:00:00Z"},
		{"times.js", `when(1795305600500, 'ms')`, "2026-11-22 00:00:00.500"},
		{"times.js", `[1e3, 60e3, 3600e3, 86400e3, 7 * 86400e3, 365 * 86400e3].map((s) => stepOf(s, 320)).join()`, "5,200,15000,300000,3600000,172800000"},
		{"times.js", `tickTexts([1795303800, 1795305600]).join('|')`, "23:30\n2026-11-21|00:00\n2026-11-22"},

		{"router.js", `link(['pair', 'a/b', 'c d'], {from: '-1d', to: '', test: 'rtt@all'})`, "#/pair/a%2Fb/c%20d?from=-1d&test=rtt@all"},
		{"router.js", `JSON.stringify(parse('#/pair/a%2Fb/%zz?from=-1d').path)`, `["pair","a/b","%zz"]`},

		{"overview/judge.js", `[0.1, 0.101, 0.3, null].map((v) => byLimits(v, {warn: 0.1, bad: 0.2}, 'low')).join()`, "2,3,4,0"},
		{"overview/judge.js", `[1e9, 9e7, 1e6].map((v) => byLimits(v, {warn: 1e8, bad: 1e7}, 'high')).join()`, "2,3,4"},
		{"overview/judge.js", `[10, 12, 12.1, 17, 7, 10.4].map((v) => byPast(v, {low: 9, median: 10, high: 12}, 'low')).join()`, "2,2,3,4,1,2"},
		{"overview/judge.js", `[7, 17].map((v) => byPast(v, {low: 9, median: 10, high: 12}, '')).join()`, "3,4"},
		{"overview/judge.js", `byPast(5, {low: null, median: null, high: null}, 'low')`, "0"},
		{"overview/judge.js", `[14, 31, 8, 10, 123].map((v) => change(v, 10)).join()`, "+40 %,×3.1,−20 %,±0,×12"},
		{"overview/judge.js", `Object.values(limitsOf({warn: null, bad: null}, undefined, [1, 2, 3, 4, 5, null], 'low')).join()`, "4,4,matrix"},
		{"overview/judge.js", `Object.values(limitsOf({warn: null, bad: null}, undefined, [20, 20, 18, 4, null, 20], 'high')).join()`, "16,10,matrix"},

		{"overview/judge.js", `[['low', 12], ['high', 9]].map(([better]) => limitOf({low: 9.5, median: 10, high: 12}, better)).concat(limitOf({low: null, median: null, high: null}, 'low')).join()`, "12,9,"},
		{"overview/model.js", `(() => { const m = {better: 'high', metric: 'm', byPast: false, limits: {warn: 5}, n: 2, hosts: [{name: 'a'}, {name: 'b'}]}; return JSON.stringify([sinceQuery(m, [1, 2]), sinceQuery(m, []), sinceQuery({...m, better: ''}, [1])]); })()`,
			`[{"metric":"m","beyond":"below","limits":"5","pairs":"a/b,b/a"},null,null]`},
		{"overview/model.js", `(() => { const m = {better: 'low', metric: 'm', byPast: true, limits: {warn: 5}, past: {median: [0, 10, 20, 0], low: [0, 9, 19, 0], high: [0, 12, 21, 0]}, n: 2, hosts: [{name: 'a'}, {name: 'b'}]}; const q = sinceQuery(m, [2, 1]); return q.limits + ' ' + q.pairs; })()`, "22,12 b/a,a/b"},
		{"overview/lists.js", `[{since: '2026-11-22T15:00:00Z'}, {since: '2026-11-21T15:00:00Z'}, {since: '2026-11-15T15:00:00Z', longer: true}, {since: null}, undefined].map((s) => sinceWords(s, Date.parse('2026-11-22T16:00:00Z'))).join('; ')`, "since 15:00; since 11-21 15:00; since before 11-15 15:00; ; "},
		{"overview/lists.js", `[{kind: 'route', at: '2026-11-22T15:00:00Z', text: 'hop 1: x is now y', result: 'R', source: 'a', target: 'b', before: '2026-11-22T14:00:00Z'}, {kind: 'finding', at: '2026-11-22T15:00:00Z', text: 't', result: 'R'}].map(ofChange).map((c) => c.text + ' ' + c.href).join('; ')`,
			"a → b, route: hop 1: x is now y #/pair/a/b?from=2026-11-22T10:00:00Z&to=2026-11-22T20:00:00Z&see=routes; t #/result/R"},
		{"overview/words.js", `[[], ['host', 'to'], ['pair'], ['host', 'link', 'pair']].map((kinds) => headline({looked: 2, unknown: 0, troubles: kinds.map((kind, i) => ({kind, name: 'n' + i, signs: [{aspect: kinds.length > 2 && !i ? 'loss' : 'delay'}]}))}).replaceAll('\u00a0', ' ')).join('; ')`,
			"All is as usual; 2 hosts are slow; 1 path is slow; 1 host, 1 link and 1 path are worse than usual"},
		{"overview/words.js", `[{aspect: 'loss', usual: 0, now: 0.021}, {aspect: 'loss', usual: 0.02, now: 0.02, longer: true}, {aspect: 'throughput', usual: 18e6, now: 2.9e6}, {aspect: 'throughput', usual: 2e7, now: 3.8e6, declared: true, longer: true}, {aspect: 'delay', usual: 0.02, now: 0.08}].map((s) => signWords({since: '2026-11-22T15:00:00Z', ...s}, Date.parse('2026-11-22T16:00:00Z')).replaceAll('\u00a0', ' ')).join('; ')`,
			"packets lost since 15:00: 2.1 %, before 0 %; 2 % of packets lost, since before 15:00; transfers slow since 15:00: 2.90 Mbit/s, before 18.0 Mbit/s; transfers get 3.80 Mbit/s of the 20.0 Mbit/s that the mesh file declares, as long as is known; round trips longer since 15:00: 80.0 ms, before 20.0 ms"},
		{"overview/keys.js", `[['ArrowRight', 0, 1], ['ArrowLeft', 0, 1], ['ArrowDown', 0, 1], ['End', 1, 0], ['End', 3, 0], ['PageDown', 0, 3]].map(([k, row, column]) => Object.values(moved({row, column}, k, false, [{from: 0, to: 1}, {from: 2, to: 3}], 4)).join()).join(' ')`, "0,2 0,1 2,1 1,3 3,2 2,3"},
		{"overview/layout.js", `(() => { const l = layoutOf([{name: 'a', site: 'x'}, {name: 'b', site: 'x'}, {name: 'c', site: 'y'}], 20, 30); return [l.places.join(), l.full, hostAt(l, 0), hostAt(l, 39), hostAt(l, 43), hostAt(l, 46), hostAt(l, 66)].join(' '); })()`, "0,20,46 66 0 1 -1 2 -1"},
		{"overview/model.js", `(() => { const m = modelOf({metric: 'x_seconds', unit: 'seconds', better: 'low', from: '', to: '', hosts: [{name: 'b', site: 'z'}, {name: 'a', site: 'y'}], values: [null, 1, 2, null], counts: []}, {warn: 1.5, bad: 9, byPast: false}); return m.hosts.map((h) => h.name) + ' ' + m.values.join() + ' ' + worst(m, 5) + ' ' + m.tally.join(); })()`, "a,b ,2,1, 1 0,0,1,1,0"},

		{"result/samples.js", `(() => { const of = (rates) => ratesOf(rates.map((r, i) => ({start_seconds: i, end_seconds: i + 1, bits_per_second: r}))); return [of([1, 2, 9, 9, 9]), of([]), of([4])].map((r) => r.whole + ' ' + r.steady).join('; '); })()`,
			"6 9; null null; 4 null"},
		{"result/sweep.js", `(() => { const of = (parameters, ...points) => drawingsOf({parameters, unit: 'bits_per_second', points: points.map(([n, mean, ...values]) => ({n, mean, values}))}).map((d) => d.title + ' ' + d.series[0].points.join(' ') + ' O' + d.mark).join('; '); const bytes = (name) => ({name, unit: 'bytes'});
			return [of([bytes('window')], [3, 9, 2000], [3, 5, 1000], [0, 0, 4000]), of([{name: 'cc'}, bytes('len')], [1, 2, 'reno', 64], [1, 4, 'reno', 128], [1, 3, 'bbr', 64]), of([{name: 'dscp'}], [1, 2, 'ef'])].join(' | '); })()`,
			"Throughput over window 1000,5 2000,9 O2000,9 | Throughput over len with cc reno 64,2 128,4 O128,4; Throughput over len with cc bbr 64,3 O64,3 | "},
		{"result/flows.js", `(() => { const f = {start_seconds: 0.05, end_seconds: 0.4, arrived: {over_time: {interval_seconds: 0.1, sent_packets: [2, 4, 2, 0, 0], received_packets: [2, 3, 0, 0, 0],
			received_bytes: [100, 250, 0, 0, 0], delay_max_seconds: [0.001, 0.002, null, null, null]}}}; const of = (marks) => marks.map((m) => m.x.toFixed(2) + ',' + (m.y === null ? 'lost' : Number(m.y.toFixed(4)))).join(' ');
			return Object.values(linesOf(f)).map(of).join('; ') + linesOf({arrived: null}).rate.length; })()`,
			"0.10,16000 0.20,20000 0.30,0 0.40,0; 0.10,0 0.20,0.25 0.30,1 0.40,0; 0.10,0.001 0.20,0.002 0.30,lost 0.40,00"},
		{"pair/ink.js", `[0, 0.002, 0.01, 0.03, 0.1, 0.4, 1].map(lossClass).join()`, "0,1,1,2,3,4,5"},
		{"pair/seams.js", `(() => { const doc = (...minutes) => ({step_seconds: 60, quantiles: [], gaps: null, buckets: minutes.map((m) => ({start: new Date(m * 60e3).toISOString(), value: m}))});
			return [[['rtt', doc(0, 1, 2, 3)], ['trace', doc(2, 5, 10, 15)]], [['rtt', doc(10, 11, 12)], ['old', doc(1, 3, 5, 11)]], [['rtt', doc(1, 2)]], [['rtt', null], ['trace', doc(4)]], [['rtt', null]]].map((parts) => {
				const { doc, seams } = oneSeries(parts.map(([tool, doc]) => ({tool, doc})), (t) => t === 'old');
				return (doc?.buckets ?? []).map((b) => b.value + (b.by ?? '')).join() + ' ' + seams.map((s) => s.at / 60 + s.tool).join(); }).join('; '); })()`,
			"0,1,2,3,5trace,10trace,15trace 4.5trace; 1old,3old,5old,10,11,12 8rtt, before: generated; 1,2 ; 4trace ;  "},
		{"pair/hops.js", `answered({addresses: ['10.0.0.1', '10.0.0.2']}, new Map([['10.0.0.2', 'cern']]))`, "10.0.0.1, cern (10.0.0.2)"},
		{"pair/range.js", `Object.values(rangeOf(new URLSearchParams('from=-1d'), 1795305600001)).join()`, "1795219200000,1795305900000,300000,true"},
		{"pair/range.js", `Object.values(rangeOf(new URLSearchParams('to=2026-01-01'), 1795305600001)).join()`, "1767139200000,1767225600000,300000,false"},
		{"pair/range.js", `Object.values(drawn(1795305600000, 1795305600001)).join()`, "2026-11-21T23:59:59.501Z,2026-11-22T00:00:00.501Z"},
		{"pair/columns.js", `(() => { const d = {step_seconds: 60, buckets: [{start: '2026-11-22T00:00:00Z', mean: 1}, {start: '2026-11-22T01:00:00Z', mean: 2}], gaps: [{from: '2026-11-22T00:00:10Z', to: '2026-11-22T01:00:10Z', kind: 'missed', runs: 3, why: 'b is away'}]}; const a = axisOf(d); return column(d, a, (b) => b.mean).join() + ' ' + reason(a.holes[0]); })()`, "1,,2 3 planned runs missed: b is away"},
		{"pair/columns.js", `[extent([[10, 11]], false), extent([[10, 11]], true), extent([[null]], false)].map((e) => e.map((v) => v.toFixed(2))).join(' ')`, "9.92,11.08 0.00,11.08 0.00,0.00"},
		{"pair/columns.js", `[[5, 15], [15, 25], [0, 30], [0, 10], [12, 18]].map(([a, b]) => within([{from: new Date(a * 1e3).toISOString(), to: new Date(b * 1e3).toISOString()}], {from: 10e3, to: 20e3}).map((g) => Date.parse(g.from) + '-' + Date.parse(g.to))).join()`, "10000-15000,15000-20000,10000-20000,,12000-18000"},
		{"result/samples.js", `(() => { const t = thinned(Array.from({length: 4001}, (_, x) => ({x, y: x === 7 ? null : x % 3}))); return [t.length, t[0].y, t[2].y, t.at(-1).x, thinned([]).length].join(); })()`, "1334,2,,4000,0"},
		{"pair/shares.js", `(() => { const s = sharesOf([0, 1, 2, 3, 4], 0, 4); return s.length + ' ' + s.reduce((a, b) => a + b).toFixed(3) + ' ' + s[7].toFixed(4); })()`, "40 1.000 0.0250"},
		{"pair/shares.js", `sharesOf([5, 5, 5], 5, 5).reduce((a, b) => a + b).toFixed(3)`, "1.000"},
		{"pair/profile.js", `profileOf([[0.5, 10], [0, 90]].map(([value, weight]) => ({count: 1, value, weight, start: '2026-11-22T00:00:00Z'})), () => ({weekday: 'Sun', hour: '05'}))[6][5]`, "0.05"},
		{"pair/compare.js", `JSON.stringify([comparedOf('-7d')?.earlier, comparedOf('a/b')?.pair, comparedOf('x'), comparedOf(null)])`, `[604800000,["a","b"],null,null]`},
	} {
		// The names of a module become those of the expression.
		got := value[string](p, fmt.Sprintf("import('./%s').then((m) => { for (const k in m) globalThis[k] = m[k]; return String(%s).replaceAll('\\u00a0', ' ').replaceAll('\\u202f', ' '); })", c.module, c.expression))
		if got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.module, c.expression, got, c.want)
		}
	}
}

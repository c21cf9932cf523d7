// Package scenario plays cases: a lab, what happens in it step by step, what must be seen then, and a verdict. A case is a
// YAML file that anyone can read:
//
//	name: random-loss
//	title: One packet in a hundred is lost on the wire
//	finding: random-loss                     # what a diagnosis should call it; may be left out
//	source: who described the problem
//	cause: what is truly wrong, in words
//	condition: when it binds, with the figures of this case
//	lab:                                     # a lab file
//	  hosts: {a: {}, b: {}}
//	  links: [{between: [a, b], rate: 50mbit, delay: 20ms}]
//	steps:
//	  - exec:    {on: b, run: [pathwise, respond], background: true, ready: answering}
//	  - measure: {on: a, run: [throughput, b, -t, 3], as: clean}
//	  - set:     {between: [a, b], loss: 1%}
//	  - wait:    500ms
//	  - measure: {on: a, run: [throughput, b, -t, 3], as: lossy}
//	  - expect:  {of: lossy, over: clean, value: metrics.throughput_bits_per_second, below: 0.3}
//	  - expect:  {of: truth, link: [a, b], value: dropped.loss, above: 0}
//
// It does not decide what a good case is, and it measures nothing by itself: programs on the lab's hosts do.
package scenario

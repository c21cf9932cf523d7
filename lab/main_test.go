package lab

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	RunEngineIfAsked() // the labs of these tests are this test binary again
	os.Exit(m.Run())
}

func ptr[T any](v T) *T { return &v }

// bobAndCarol is the path of the demonstration: two hosts, two routers, three links.
const bobAndCarol = `
seed: 7
hosts: {bob: {}, carol: {}}
routers: [denver, chicago]
links:
  - {between: [bob, denver],     rate: 1gbit,   delay: 1ms}
  - {between: [denver, chicago], rate: 100mbit, delay: 18ms, queue: 500p}
  - {between: [chicago, carol],  rate: 1gbit,   delay: 1ms, forward: {loss: 0.1%}}
`

func mustParse(t testing.TB, text string) *Spec {
	t.Helper()
	spec, err := ParseSpec("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

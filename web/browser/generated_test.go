package browser

import (
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// generatedMesh makes the page believe that what is older than noon was generated, as GET /me says of a demonstration.
const generatedMesh = `{
  const real = window.fetch;
  window.fetch = async (path, ...rest) => {
    const answer = await real(path, ...rest);
    if (!String(path).startsWith('api/v1/me')) return answer;
    return new Response(JSON.stringify({ ...(await answer.json()), generated_until: '2026-11-22T12:00:00Z' }));
  };
}`

// What nobody measured is marked, whichever page shows it.
func TestGenerated(t *testing.T) {
	m := theMesh(t)
	p := open(t, desk, m.url)
	added, err := chromedp.Call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: generatedMesh})
	must(t, err)
	t.Cleanup(func() {
		_, err := chromedp.Call(chromium.Context, page.RemoveScriptToEvaluateOnNewDocument,
			page.RemoveScriptToEvaluateOnNewDocumentParams(added))
		must(t, err)
	})
	p.run(chromedp.Reload())
	for _, hash := range []string{"#/", "#/pair/ucl/cern", "#/elsewhere"} {
		p.show(hash, desk, false)
		p.until("/History before 2026-11-22 1[0-9]:00 is generated: nobody measured it/.test(document.querySelector('main').textContent)")
	}
}

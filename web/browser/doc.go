// Package browser tries the pages (web/page) in a real Chromium, before the real API, archive and controller: what is drawn,
// what keyboard and screen reader get, and that nothing is said to another host or to the console. It holds tests alone.
//
// With PATHWISE_SCREENSHOTS=FOLDER, TestScreens keeps a picture of each page there.
package browser

package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

//go:embed assets
var assets embed.FS

// scripts are the modules of the page, each after those that it imports.
var scripts = []string{"state.js", "dom.js", "markdown.js", "media.js", "cards.js", "forms.js", "draw.js", "player.js", "live.js", "marks.js", "main.js"}

// moduleSyntax matches what makes a file a module. The page has one script: the files share
// its scope, so their top-level names differ.
var moduleSyntax = regexp.MustCompile(`(?m)^(?:import .*|export (?:\{.*|default .*))\n|^export `)

// parts are the text of the page and its policy.
var parts = sync.OnceValue(func() (p struct{ style, library, script, policy string }) {
	p.style = asset("page.css")
	p.library = asset("markdown-it/markdown-it.umd.min.js")
	for _, name := range scripts {
		p.script += moduleSyntax.ReplaceAllString(asset(name), "")
	}
	p.policy = "default-src 'none'; script-src " + hashOf(p.library) + " " + hashOf(p.script) + "; style-src " + hashOf(p.style) +
		"; connect-src 'self'; img-src data: blob:; media-src blob:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
	return p
})

func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(b)
}

// hashOf returns the source of a policy that allows a script or a style.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// document returns the page. recording is compressed; without it the page is live.
func document(title, recording string) string {
	p := parts()
	return strings.NewReplacer("{{title}}", html.EscapeString(title), "{{policy}}", p.policy, "{{style}}", p.style,
		"{{library}}", p.library, "{{script}}", p.script, "{{recording}}", recording).Replace(asset("page.html"))
}

// ServeHTTP serves the live page. It needs no token: the page asks for one.
func ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", parts().policy+"; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	_, _ = io.WriteString(w, document("Turnspec", "")) // the browser is gone
}

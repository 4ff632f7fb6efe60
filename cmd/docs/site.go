package main

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/lab/live"
	"github.com/turnspec/turnspec/fixtures"
)

// source is where files of the repository that are no pages are shown.
const source = "https://github.com/turnspec/turnspec/blob/main/"

//go:embed templates
var templateFiles embed.FS

// site is what is written: the content of each file by its path.
type site struct {
	repository fs.FS
	files      map[string][]byte
	checks     []*conformance.Check
	isCheck    map[string]bool
	templates  *template.Template
}

// everyCheck returns all checks, also those of the golden and live tiers.
func everyCheck() []*conformance.Check {
	return append(backend.WithGoldens(fixtures.Embedded()), live.Checks()...)
}

func newSite(repository fs.FS) *site {
	s := &site{repository: repository, files: map[string][]byte{}, checks: everyCheck(), isCheck: map[string]bool{}}
	for _, c := range s.checks {
		s.isCheck[c.ID] = true
	}
	s.templates = template.Must(template.New("").Funcs(template.FuncMap{"code": codeSpans}).ParseFS(templateFiles, "templates/*.html"))
	style, err := templateFiles.ReadFile("templates/style.css")
	if err != nil {
		panic(err) // it is embedded
	}
	s.files["style.css"] = style
	return s
}

// layout is what the frame of each page shows.
type layout struct {
	Title string
	Root  string // the way to the top folder: "", "../" …
	Body  template.HTML
}

// add makes a page of a body.
func (s *site) add(name, title string, body []byte) error {
	root := strings.Repeat("../", strings.Count(name, "/"))
	var b bytes.Buffer
	text := s.linkChecks(string(body), root)
	err := s.templates.ExecuteTemplate(&b, "layout.html", layout{Title: title, Root: root, Body: template.HTML(text)}) //nolint:gosec // the body is a page of the repository, or made by a template
	s.files[name] = b.Bytes()
	return err
}

// addTemplate makes a page by a template.
func (s *site) addTemplate(name, title, body string, data any) error {
	var b bytes.Buffer
	if err := s.templates.ExecuteTemplate(&b, body, data); err != nil {
		return err
	}
	return s.add(name, title, b.Bytes())
}

var codeID = regexp.MustCompile(`(<a [^>]*>)?<code>([a-z]+\.[a-z-]+)</code>`)

// linkChecks makes each id of a check in the text a link to its page, unless it is in a
// link already.
func (s *site) linkChecks(text, root string) string {
	return codeID.ReplaceAllStringFunc(text, func(m string) string {
		groups := codeID.FindStringSubmatch(m)
		if groups[1] != "" || !s.isCheck[groups[2]] {
			return m
		}
		return `<a href="` + root + checkPage(groups[2]) + `"><code>` + groups[2] + `</code></a>`
	})
}

func checkPage(id string) string    { return path.Join("checks", id+".html") }
func scenarioPage(id string) string { return path.Join("scenarios", id+".html") }

var backquoted = regexp.MustCompile("`([^`]+)`")

// codeSpans escapes a text and makes code of what is between backquotes.
func codeSpans(text string) template.HTML {
	escaped := template.HTMLEscapeString(text)
	return template.HTML(backquoted.ReplaceAllString(escaped, "<code>$1</code>")) //nolint:gosec // it is escaped
}

package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// index is the page that lists the others by reader.
const index = "cmd/docs/index.md"

var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(html.WithXHTML(), html.WithUnsafe()), // the pages are ours; their comments stay
)

// addMarkdown adds a page for each Markdown file of the repository, and for each generated one.
func (s *site) addMarkdown(ctx context.Context) error {
	pages, err := s.generated(ctx)
	if err != nil {
		return err
	}
	for name, text := range pages {
		if err := s.addMarkdownPage(name, text); err != nil {
			return err
		}
	}
	return fs.WalkDir(s.repository, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || name == "docs" || name == "dist" || d.Name() == "node_modules" || d.Name() == "testdata"):
			return fs.SkipDir
		case path.Ext(name) != ".md":
			return nil
		}
		b, err := fs.ReadFile(s.repository, name)
		if err != nil {
			return err
		}
		return s.addMarkdownPage(name, b)
	})
}

// markdownPage returns the page of a Markdown file.
func markdownPage(name string) string {
	if name == index {
		return "index.html"
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

var markdownComment = regexp.MustCompile(`(?s)<!--.*?-->\n?`)

func (s *site) addMarkdownPage(name string, text []byte) error {
	text = markdownComment.ReplaceAll(text, nil)
	doc := markdown.Parser().Parse(textReader(text))
	title := ""
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if title == "" {
				title = plainText(n, text)
			}
		case *ast.Link:
			to, err := s.target(name, string(n.Destination))
			if err != nil {
				return ast.WalkStop, err
			}
			n.Destination = []byte(to)
		case *ast.Image:
			to, err := s.addPicture(name, string(n.Destination))
			if err != nil {
				return ast.WalkStop, err
			}
			n.Destination = []byte(to)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return errors.New(name + ": " + err.Error())
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, text, doc); err != nil {
		return err
	}
	return s.add(markdownPage(name), title, b.Bytes())
}

// target returns the address of what a page links to: another page, or a file of the
// repository.
func (s *site) target(page, to string) (string, error) {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Path == "" {
		return to, err
	}
	file := path.Join(path.Dir(page), u.Path)
	from := path.Dir(markdownPage(page))
	if page == index && strings.HasSuffix(u.Path, ".html") {
		return to, nil // a page that has no Markdown
	}
	// A link works on the repository's host too: a generated page has no file there, and is
	// linked by the index alone, as an HTML page.
	if _, err := fs.Stat(s.repository, file); err != nil {
		return "", err
	}
	if path.Ext(file) != ".md" {
		return source + file, nil
	}
	u.Path = relative(from, markdownPage(file))
	return u.String(), nil
}

// addPicture copies a picture of a page into the site, and returns its address.
func (s *site) addPicture(page, to string) (string, error) {
	file := path.Join(path.Dir(page), to)
	b, err := fs.ReadFile(s.repository, file)
	if err != nil {
		return "", err
	}
	s.files[file] = b
	return relative(path.Dir(markdownPage(page)), file), nil
}

// relative returns the way from a folder of the site to a page.
func relative(folder, page string) string {
	if folder == "." {
		return page
	}
	from, to := strings.Split(folder, "/"), strings.Split(page, "/")
	for len(from) > 0 && len(to) > 1 && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	return strings.Repeat("../", len(from)) + strings.Join(to, "/")
}

func textReader(b []byte) text.Reader { return text.NewReader(b) }

// plainText returns the text below a node.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"runtime/debug"
)

// component is a module, as CycloneDX describes it.
type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	URL        string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// writeModules writes the list of the modules that are in the program (a software bill
// of materials, CycloneDX 1.5), as the Go linker wrote it into the program.
func (r *release) writeModules(t target, binary []byte) error {
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return err
	}
	var parts []component
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, moduleComponent(m))
	}
	goVersion := info.GoVersion[len("go"):]
	parts = append(parts, component{Type: "library", Ref: "pkg:golang/std@" + goVersion, Name: "std", Version: goVersion, URL: "pkg:golang/std@" + goVersion})
	url := "pkg:golang/" + info.Main.Path + "@v" + r.Version
	b, err := json.MarshalIndent(map[string]any{
		"bomFormat":   "CycloneDX",
		"specVersion": "1.5",
		"version":     1,
		"metadata": map[string]any{
			"timestamp": r.Time.Format("2006-01-02T15:04:05Z"),
			"component": component{Type: "application", Ref: url, Name: "turnspec", Version: r.Version, URL: fmt.Sprintf("%s?goos=%s&goarch=%s", url, t.OS, t.Arch)},
		},
		"components": parts,
	}, "", "  ")
	if err != nil {
		return err
	}
	return r.write(r.file(t, ".cdx.json"), append(b, '\n'))
}

func moduleComponent(m *debug.Module) component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	return component{Type: "library", Ref: url, Name: m.Path, Version: m.Version, URL: url, Properties: []property{{"go:sum", m.Sum}}}
}

// Command sbom lists the modules that a built Go program holds, as CycloneDX 1.6
// JSON, with their hashes from a go.sum. It reads both and asks nobody: the list is
// the same for the same program.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type bill struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM GO.SUM OUTPUT")
		os.Exit(2)
	}
	b, err := billOf(os.Args[1], os.Args[2])
	var text []byte
	if err == nil {
		text, err = json.MarshalIndent(b, "", "  ")
	}
	if err == nil {
		err = os.WriteFile(os.Args[3], append(text, '\n'), 0o644) //nolint:gosec // a list that everybody may read
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func billOf(program, goSum string) (*bill, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	sums, err := os.ReadFile(goSum) //nolint:gosec // the caller names the file
	if err != nil {
		return nil, err
	}
	hashes := map[string]string{} // of a module and its version, as go.sum has them
	for line := range strings.Lines(string(sums)) {
		if f := strings.Fields(line); len(f) == 3 {
			hashes[f[0]+" "+f[1]] = f[2]
		}
	}
	b := &bill{Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Components: []component{goComponent(info.GoVersion)}}
	b.Metadata.Component = component{
		Type: "application", Name: info.Main.Path, Version: info.Main.Version,
		PURL: purl(info.Main.Path, info.Main.Version),
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component{Type: "library", Name: m.Path, Version: m.Version, PURL: purl(m.Path, m.Version)}
		sum, ok := strings.CutPrefix(hashes[m.Path+" "+m.Version], "h1:")
		raw, err := base64.StdEncoding.DecodeString(sum)
		if !ok || err != nil {
			return nil, fmt.Errorf("%s has no hash for %s %s", goSum, m.Path, m.Version)
		}
		c.Hashes = []hash{{"SHA-256", hex.EncodeToString(raw)}}
		b.Components = append(b.Components, c)
	}
	return b, nil
}

func goComponent(version string) component {
	version = strings.TrimPrefix(version, "go")
	return component{Type: "library", Name: "std", Version: version, PURL: purl("std", version)}
}

func purl(path, version string) string { return "pkg:golang/" + path + "@" + version }

package llmtest_test

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"memoryd/llm/llmtest"
)

// embed sends an embeddings request and gives the reply's status and vectors.
func embed(t *testing.T, c *http.Client, url, body string) (status int, vectors [][]float64) {
	t.Helper()
	resp, err := c.Post(url+"/embeddings", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var v struct {
		Data []struct {
			Index     int
			Embedding []float64
		}
		Usage struct {
			PromptTokens int `json:"prompt_tokens"`
		}
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&v); err != nil {
		t.Fatal(err)
	}
	for i, d := range v.Data {
		if d.Index != i || v.Usage.PromptTokens == 0 {
			t.Errorf("vector %d has index %d; %d tokens", i, d.Index, v.Usage.PromptTokens)
		}
		vectors = append(vectors, d.Embedding)
	}
	return resp.StatusCode, vectors
}

func cosine(a, b []float64) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	return ab / math.Sqrt(aa*bb)
}

func TestVectorsAreAlikeWhereTextsAre(t *testing.T) {
	both(t, func() *llmtest.Server {
		return llmtest.New(llmtest.Always(llmtest.Answer("hi"))).Embeddings(llmtest.Meaning([]string{"rain", "weather"}))
	}, func(t *testing.T, s *llmtest.Server, c *http.Client, url string) {
		status, v := embed(t, c, url, `{"model":"m","input":["Rain!","weather","disk","rain on a disk"],"dimensions":96}`)
		if status != http.StatusOK || len(v) != 4 || len(v[0]) != 96 {
			t.Fatalf("status %d, %d vectors", status, len(v))
		}
		if same := cosine(v[0], v[1]); same < 0.999 {
			t.Errorf("one meaning: %v", same)
		}
		if other, shared := cosine(v[0], v[2]), cosine(v[0], v[3]); other > 0.5 || shared < other {
			t.Errorf("another meaning: %v; a common word: %v", other, shared)
		}
		if r := s.Requests()[0]; r.Dimensions != 96 || len(r.Input) != 4 || r.PromptTokens == 0 {
			t.Errorf("understood %+v", r)
		}
		if status, _ := embed(t, c, url, `{"model":"m","input":[]}`); status != http.StatusBadRequest {
			t.Errorf("no texts: status %d", status)
		}
	})
}

func TestAServerWithoutEmbeddingsDoesNotKnowThem(t *testing.T) {
	both(t, func() *llmtest.Server { return llmtest.New(llmtest.Always(llmtest.Answer("hi"))) },
		func(t *testing.T, _ *llmtest.Server, c *http.Client, url string) {
			if status, _ := embed(t, c, url, `{"model":"m","input":["x"]}`); status != http.StatusNotFound {
				t.Errorf("status %d", status)
			}
		})
}

package textsafe_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"memoryd/internal/textsafe"
)

// fill makes a key's tail: n characters that look drawn at random.
func fill(n int) string { return strings.Repeat("aB3dE6gH9jK2", n/12+1)[:n] }

func hexes(n int) string { return strings.Repeat("0f3a9c5b7e", n/10+1)[:n] }

// secretForms are keys as their issuers write them. The values are made up.
func secretForms() map[string]string {
	return map[string]string{
		"AWS access key":           "AKIAIOSFODNN7EXAMPLE",
		"AWS session key":          "ASIAIOSFODNN7EXAMPLE",
		"GitHub personal":          "ghp_" + fill(36),
		"GitHub OAuth":             "gho_" + fill(36),
		"GitHub user":              "ghu_" + fill(36),
		"GitHub server":            "ghs_" + fill(36),
		"GitHub refresh":           "ghr_" + fill(36),
		"GitHub fine-grained":      "github_pat_" + fill(22) + "_" + fill(59),
		"GitLab":                   "glpat-" + fill(20),
		"OpenAI":                   "sk-" + fill(48),
		"OpenAI project":           "sk-proj-" + fill(40),
		"Anthropic":                "sk-ant-api03-" + fill(40),
		"Stripe live":              "sk_live_" + fill(24),
		"Stripe restricted":        "rk_live_" + fill(24),
		"Stripe webhook":           "whsec_" + fill(32),
		"ElevenLabs":               "sk_" + hexes(48),
		"Slack bot":                "xoxb-123456789012-" + fill(24),
		"Slack app":                "xapp-1-A0123-" + fill(24),
		"Slack webhook":            "hooks.slack.com/services/T00000000/B00000000/" + fill(24),
		"Google API":               "AIza" + fill(35),
		"Google OAuth":             "ya29." + fill(40),
		"Google client secret":     "GOCSPX-" + fill(28),
		"Hugging Face":             "hf_" + fill(34),
		"npm":                      "npm_" + fill(36),
		"PyPI":                     "pypi-AgEIcHlwaS5vcmc" + fill(40),
		"SendGrid":                 "SG." + fill(22) + "." + fill(43),
		"DigitalOcean":             "dop_v1_" + hexes(64),
		"Databricks":               "dapi" + hexes(32),
		"Docker Hub":               "dckr_pat_" + fill(27),
		"Vault":                    "hvs." + fill(90),
		"Shopify":                  "shpat_" + hexes(32),
		"Square":                   "sq0atp-" + fill(22),
		"Linear":                   "lin_api_" + fill(40),
		"Notion":                   "ntn_" + fill(40),
		"Figma":                    "figd_" + fill(40),
		"Grafana":                  "glsa_" + fill(32) + "_" + hexes(8),
		"Atlassian":                "ATATT3xFfGF0" + fill(40),
		"Twilio":                   "SK" + hexes(32),
		"Mailgun":                  "key-" + hexes(32),
		"Groq":                     "gsk_" + fill(52),
		"age":                      "AGE-SECRET-KEY-1" + strings.ToUpper(fill(58)),
		"Telegram bot":             "123456789:AA" + fill(33),
		"Discord bot":              "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
		"JSON web token":           "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
		"memoryd key":              "mrd_k1_" + fill(43),
		"AWS secret without name":  "wJalrXUtnFEMI/K7MDENG+bPxRfiCYzEXAMPLEK3",
		"Alibaba":                  "LTAI5t" + fill(18),
		"Slack client":             "xoxc-123456789012-" + fill(24),
		"Netlify":                  "nfp_" + fill(36),
		"Supabase":                 "sbp_" + hexes(40),
		"Fly":                      "fm2_" + fill(40),
		"Heroku":                   "HRKU-AA" + fill(40),
		"Firebase":                 "APA91b" + fill(134),
		"bcrypt":                   "$2b$12$KIXQ4o8S1r9uJb0d2fZ1eO1yq8mC5uXG7vW3tR9pL2kN6hB4sD8aG",
		"SHA-512 crypt":            "$6$aB3dE6gH$" + fill(86),
		"RSA key":                  "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
		"OpenSSH key cut short":    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU",
		"private key in JSON":      `-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n-----END PRIVATE KEY-----\n`,
		"live key with short tail": "sk-live-abcdef1234567890",
	}
}

// A name in two words, in other languages and of an attribute tells of a secret as well; prose about keys does not.
func TestNamesOfSecretsInOtherForms(t *testing.T) {
	const secret = "k7-tulip-4471"
	for _, form := range []string{"API key: %s", "mot de passe : %s", "senha: %s", "wachtwoord: %s", "la password è %s", `psk="%s"`, `<add key="ApiSecret" value="%s"/>`} {
		if text := strings.Replace(form, "%s", secret, 1); strings.Contains(textsafe.Mask(text), secret) {
			t.Errorf("%s is shown", text)
		}
	}
	for _, prose := range []string{"the API key is invalid", "API key: see the docs", "API keys are listed below", `{"key":"color","value":"red"}`, "parola mea", "passe-partout: open"} {
		if textsafe.Mask(prose) != prose {
			t.Errorf("%s becomes %s", prose, textsafe.Mask(prose))
		}
	}
}

func TestEveryFormOfASecretIsMasked(t *testing.T) {
	for name, s := range secretForms() {
		for _, frame := range []string{"before %s after", `{"x":"%s","y":1}`, "KEY=%s", "x: %s.", "(%s)", "line\n%s\nline"} {
			text := strings.Replace(frame, "%s", s, 1)
			masked := textsafe.Mask(text)
			if body := strings.TrimSuffix(s, `\n`); strings.Contains(masked, body[len(body)/2:]) || !strings.Contains(masked, textsafe.Masked) {
				t.Errorf("%s: %q becomes %q", name, text, masked)
			}
			if strings.HasPrefix(frame, "before") && (!strings.HasPrefix(masked, "before ") || !strings.HasPrefix(s, "-----") && !strings.HasSuffix(masked, " after")) {
				t.Errorf("%s: what stands around it is lost: %q", name, masked)
			}
		}
	}
}

func TestATokenWithoutADigitIsMaskedBehindItsName(t *testing.T) {
	for _, text := range []string{`{"accessToken":"qXfSCntYGAaaZkPBjxecvzkVzp"}`, `{"q":"{\"accessToken\":\"PrLNCqzXxuFlwsfEFNYLIxsFRo\"}"}`} {
		if got := textsafe.Mask(text); strings.Contains(got, "xecvz") || strings.Contains(got, "wsfEF") {
			t.Errorf("%s", got)
		}
	}
	for _, text := range []string{`{"accessToken":"accessTokenProviderFactoryBean"}`, `token = "readTheWholeFileIntoMemory"`} {
		if got := textsafe.Mask(text); got != text {
			t.Errorf("the name of a thing was masked: %s", got)
		}
	}
}

func TestValuesBehindTellTaleNamesAreMasked(t *testing.T) {
	for text, secret := range map[string]string{
		"password=hunter2hunter2":                              "hunter2hunter2",
		"password: swordfish":                                  "swordfish",
		`"api_key": "abcd1234efgh"`:                            "abcd1234efgh",
		`{"password":"correct horse battery"}`:                 "horse battery",
		`{\"password\": \"hunter2\"}`:                          "hunter2",
		"{'client_secret': 'zz-top-1970'}":                     "zz-top-1970",
		"Authorization: Bearer abcdef0123456789abcdef":         "abcdef0123456789abcdef",
		"authorization: Basic dXNlcjpwYXNzd29yZA==":            "dXNlcjpwYXNzd29yZA==",
		`-H "Authorization: Token 9944b09199c62bcf9418ad846d"`: "9944b09199c62bcf9418ad846d",
		"Cookie: sid=38afes7a8; theme=dark":                    "38afes7a8",
		"export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG+b": "wJalrXUtnFEMI/K7MDENG+b",
		"DB_PASSWORD='p@ss w0rd'":                              "p@ss w0rd",
		"PGPASSWORD=letmein psql -h db":                        "letmein",
		"mysql --password hunter2x -u root":                    "hunter2x",
		"the password is hunter2horse":                         "hunter2horse",
		"set my password to tulip-garden":                      "tulip-garden",
		"password hunter2horse worked":                         "hunter2horse",
		"postgres://app:s3cr3t@db.local:5432/main":             "s3cr3t",
		"https://user:ghx@git.example/x.git":                   "ghx",
		"Server=db;User Id=sa;Password=Pa55;Encrypt=1":         "Pa55",
		"<password>opensesame</password>":                      "opensesame",
		"access_token=9a8b7c6d5e4f&expires=3600":               "9a8b7c6d5e4f",
		"X-Api-Key: 7f6e5d4c3b2a":                              "7f6e5d4c3b2a",
		"curl -H 'Bearer abcDEF123456ghi'":                     "abcDEF123456ghi",
		"AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1==":        "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1",
		"session: aB3dE6gH9jK2aB3dE6gH9jK2":                    "aB3dE6gH9jK2aB3dE6gH9jK2",
		"X-Amz-Signature=" + hexes(64):                         hexes(64),
		"sharedAccessKey = 'Zm9vYmFyYmF6'":                     "Zm9vYmFyYmF6",
		"//registry/:_authToken=0a1b2c3d4e5f6a7b":              "0a1b2c3d4e5f6a7b",
		"jwt: qwe123rty456uio":                                 "qwe123rty456uio",
		"enter otp=482913 now":                                 "482913",
		"Passwort: Nebel77":                                    "Nebel77",
		"ssn: 512-48-7731":                                     "512-48-7731",
		"your PIN is 4711":                                     "4711",
		"пароль: Туман77x":                                     "77x",
		"密码：nebel77":                                           "nebel77",
		`{"contraseña": "nebel77"}`:                            "nebel77",
		"credentials: admin123":                                "admin123",
	} {
		if masked := textsafe.Mask(text); strings.Contains(masked, secret) || !strings.Contains(masked, textsafe.Masked) {
			t.Errorf("%q becomes %q", text, masked)
		}
	}
}

func TestOrdinaryTextIsNotMasked(t *testing.T) {
	for _, s := range []string{
		"max_results", "certificate_7504069", "the total price is 348", "update_reservation_flights_of_customers", "2025-02-01 00:10:20",
		"password is required", "Invalid password", "password: required", "the token is expired", `{"max_tokens": 4096, "token_count": 17}`,
		"Unexpected token: u in JSON at position 3", `"next_page_token": "CAUQAA12345678"`, "password=${DB_PASSWORD}", `"api_key": "<your key>"`,
		"token = tokens[i]", "password = getpass.getpass()", "secret: ***", "https://example.com:8080/path", "http://localhost:3000/@user",
		"le mot clé: bouton", "пароль: ***", "忘记密码", "用户：alice1234", "pin the version to 4711",
		"git commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"/testbed/sklearn/linear_model/tests/test_ridge.py", "Basic authentication required", "bearer authentication failed", "secretary: Bob",
		"password_length=12", "the password field", "Authorization failed", "-----BEGIN CERTIFICATE-----", "key: user_12345", "sk-learn-estimators",
		"npm_config_user_agent", "hf_hub_download", "primary key: customer_id", "author: alice1234", "monkey: banana12345", "tokenizer: bert-base-v2",
		`{"error": "token", "code": 401}`, "session: 4 of 12", "pass: 17, fail: 2", "PASSED tests/test_auth.py", "password=None", "cookie: oatmeal",
		"550e8400-e29b-41d4-a716-446655440000", "skip-this-long-name-2024-01-01-and-more",
		"/usr/Share/Doc/Lib1/Build2/Cache3/Main42/", "cost: $1$ and $6$", "eyJsaW1pdCI6MTAsInF1ZXJ5Ijoic2hvZXMgOSJ9", "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8=", "da39a3ee5e6b4b0d3255bfef95601890afd80709", "task-management-board-12345678", "risk_assessment_2024_q3_final",
	} {
		if masked := textsafe.Mask(s); masked != s || textsafe.HasSecret(s) {
			t.Errorf("%q becomes %q", s, masked)
		}
	}
}

func TestStrictMaskAlsoTakesRandomRuns(t *testing.T) {
	for _, s := range []string{"Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZkdISUpLTE1OT1A", "d41d8cd98f00b204e9800998ecf8427e", "k3v9q2x7m1z8p4w6t5r0j2h8"} {
		if got := textsafe.MaskStrict("a " + s + " b"); got != "a "+textsafe.Masked+" b" {
			t.Errorf("%q becomes %q", s, got)
		}
	}
	for _, s := range []string{"update_reservation_flights_of_customers", "certificate_7504069", "invoices_2024-01-31_customer_17_final", "src/chapter2/section11/listing4.go"} {
		if got := textsafe.MaskStrict(s); got != s {
			t.Errorf("%q becomes %q", s, got)
		}
	}
}

func TestSecretNames(t *testing.T) {
	for _, name := range []string{"password", "userPassword", "api-key", "X-API-Key", "accessToken", "token", "auth.token", "cookie", "client_secret", "pin", "ssn", "private", "Authorization"} {
		if !textsafe.SecretName(name) {
			t.Errorf("%s is not seen", name)
		}
	}
	for _, name := range []string{"max_tokens", "token_count", "page_token", "query", "key", "passenger", "author", "compass", "session_id", "password_length"} {
		if textsafe.SecretName(name) {
			t.Errorf("%s is taken for a secret's name", name)
		}
	}
}

func FuzzMask(f *testing.F) {
	for _, s := range secretForms() {
		f.Add(s)
	}
	for _, s := range []string{`{"password":"a\"b"}`, "a://b:c@d", "Authorization: Bearer", "password=", "-----BEGIN PRIVATE KEY-----", "token:\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		masked := textsafe.Mask(s)
		if textsafe.HasSecret(s) != (masked != s) {
			t.Fatalf("HasSecret and Mask disagree on %q", s)
		}
		if again := textsafe.Mask(masked); len(masked) < 1<<12 && strings.Count(again, textsafe.Masked) < strings.Count(masked, textsafe.Masked) {
			t.Fatalf("masking again loses marks: %q, %q", masked, again)
		}
		textsafe.MaskStrict(s)
	})
}

func BenchmarkMask(b *testing.B) {
	text := strings.Repeat(`{"path":"/srv/app/main.go","token":"none","status": 200} The quick brown fox jumps over the lazy dog; key_1 = value. `, 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		textsafe.HasSecret(text)
	}
}

// Each line of the table is read, and what is written as it says is masked, in the middle of a sentence too.
func TestEveryLineOfTheTableOfFormsIsReadAndMasked(t *testing.T) {
	table, err := os.ReadFile("forms.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		lines++
		least, err := strconv.Atoi(f[len(f)-1])
		if mixed := f[len(f)-1] == "mixed"; mixed {
			least, err = strconv.Atoi(f[len(f)-2])
		}
		tail, known := map[string]string{
			"alnum": fill(least), "word": fill(least), "dotted": fill(least), "base64": fill(least), "crypt": fill(least),
			"hex": hexes(least), "capitals": strings.ToUpper(fill(least)),
		}[f[1]]
		if err != nil || !known || len(f) > 4 {
			t.Errorf("this line is not understood: %s", line)
			continue
		}
		if got, want := textsafe.Mask("use "+f[0]+tail+" for it"), "use "+textsafe.Masked+" for it"; got != want {
			t.Errorf("%s becomes %q", line, got)
		}
		short := "use " + f[0] + tail[:3] + " for it" // a beginning is no key
		if got := textsafe.Mask(short); got != short {
			t.Errorf("%q becomes %q", short, got)
		}
	}
	if lines < 100 {
		t.Errorf("the table has %d lines", lines)
	}
}

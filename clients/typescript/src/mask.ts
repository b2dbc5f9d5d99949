/** Takes secrets of the commonest forms out of what is kept on disk until it can be sent. */

const MASK = "[secret]";

const NAME =
  /pass(?:word|wd|phrase|code)|secret|token$|api[-_]?key|access[-_]?key|private[-_]?key|authorization|cookie|credential|^(?:pwd|pin|cvv)$/i;

const FORMS = new RegExp(
  [
    String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
    String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
    String.raw`\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}`,
    String.raw`\b(?:sk|pk|rk)[-_](?:\w+[-_])*[A-Za-z0-9]{16,}|\bwhsec_\w{16,}`,
    String.raw`\bxox[abeoprs]-[\w-]{8,}|\bhf_\w{20,}|\bnpm_\w{20,}|\bpypi-[\w-]{20,}|\bdckr_pat_[\w-]{16,}|\bmrd_\w{8,}`,
    String.raw`\bAIza[\w-]{30,}|\bya29\.[\w-]{16,}|\bSG\.[\w-]{8,}\.[\w-]{8,}`,
    String.raw`\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*`,
    String.raw`(?<=://)[^\s/:@]*:[^\s/@]+(?=@)`,
    String.raw`(?<=bearer )[\w.~+/=-]{12,}|(?<=basic )[\w+/=]{12,}|(?<=sig=)[\w%+/=-]{12,}`,
  ].join("|"),
  "gi",
);

const ASSIGNED =
  /([\w-]*(?:pass(?:word|wd|phrase|code)|secret|token|(?:api|access|private)[-_]?key)["']?\s*[=:]\s*["']?)[^\s"'&,;]{4,}/gi;

/** Gives a value of JSON without its secrets; name is that of the member that holds it. */
export function mask(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return value.map((v) => mask(v, name));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [maskText(k), mask(v, k)]));
  if (typeof value !== "string") return value;
  return NAME.test(name) ? MASK : maskText(value);
}

function maskText(text: string): string {
  return text.replace(FORMS, MASK).replace(ASSIGNED, (_, head: string) => head + MASK);
}

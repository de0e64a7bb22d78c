/** What every answer says to a browser, unless its own headers say something else. */

/** Nothing may be loaded by what is no page, and nobody may put it into a frame. */
const CLOSED_POLICY = "default-src 'none'; frame-ancestors 'none'"

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": CLOSED_POLICY
}

/** The same, and that nobody keeps the answer for others. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  ...SECURITY_HEADERS,
  "cache-control": "private, no-store"
}

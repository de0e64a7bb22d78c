/** Security headers of every response, unless the response sets its own. */

/** Allows nothing to be loaded or framed. */
const CLOSED_POLICY = "default-src 'none'; frame-ancestors 'none'"

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": CLOSED_POLICY
}

/** The same, and caches must not store the response. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  ...SECURITY_HEADERS,
  "cache-control": "private, no-store"
}

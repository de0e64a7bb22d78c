/** Whether the server lets this page in. */
import { signal } from "@preact/signals"
import type { Who } from "../../contract/Access.ts"
import { toFailure, type Failure } from "../api/RequestError.ts"
import { request, unauthorized } from "../api/request.ts"
import { takeLogin } from "./route.ts"

/** `closed` shows the sign-in form; `unknown` until the server has answered once, and while the page begins anew. */
export const session = signal<"unknown" | "open" | "closed">("unknown")

/** Who is signed in. */
export const who = signal<Who | undefined>(undefined)

/** Why nobody knows yet whether it does. */
export const unknownBecause = signal<Failure | undefined>(undefined)

/** Why the last sign-in failed. */
export const sessionProblem = signal<string | undefined>(undefined)

unauthorized.notify = (path) => {
  // A gateway behind the server may have refused the server's own key: only the session's path speaks of the session.
  if (/^\/(v1|api)\//.test(path)) request("GET", "/session").catch(() => undefined)
  else session.value = "closed"
}

/** Tells the other tabs of this browser, whose session it is as well, who signs in. */
const tabs = new BroadcastChannel("sluice-session")

/** Without what was shown, written and sent here, and without the question of its address. */
const beginAnew = (): void => {
  session.value = "unknown"
  location.replace(location.pathname)
}

/** What is shown and written is another user's: a page has one user for all its life. */
const givesWayTo = (user: string): boolean => {
  const isOther = who.value !== undefined && who.value.user !== user
  if (isOther) beginAnew()
  return isOther
}
tabs.addEventListener("message", ({ data }: MessageEvent<string>) => {
  if (!givesWayTo(data) && session.value === "closed") void resume()
})

const enter = (now: Who): void => {
  if (givesWayTo(now.user)) return
  who.value = now
  session.value = "open"
}

const open = async (
  credentials: { login: string } | { apiKey: string } | { accessToken: string }
): Promise<boolean> => {
  sessionProblem.value = undefined
  try {
    const now = await request<Who>("POST", "/session", { body: credentials })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
    tabs.postMessage(now.user)
    enter(now)
    return true
  } catch (thrown) {
    sessionProblem.value = toFailure(thrown).message
    return false
  }
}

/** Signs in with an API key, which begins with `sk-`, or with a system access token. */
export const signIn = (secret: string): Promise<boolean> =>
  open(secret.startsWith("sk-") ? { apiKey: secret } : { accessToken: secret })

/** Ends the session of this browser, and forgets all that was asked and written in it. */
export const signOut = async (): Promise<void> => {
  await request("DELETE", "/session")
  sessionStorage.clear()
  beginAnew()
}

/** Uses the one-time login of the address, or the cookie of an earlier visit. */
export const resume = async (): Promise<void> => {
  const login = takeLogin()
  if (login !== undefined && (await open({ login }))) return
  try {
    enter(await request<Who>("GET", "/session"))
    sessionProblem.value = undefined
  } catch (thrown) {
    const failure = toFailure(thrown)
    if (failure.status === 401) session.value = "closed"
    // Of a server that stops, starts or fails nobody knows yet.
    else unknownBecause.value = failure
  }
}

// A printed address that is opened in a tab that already shows the page changes only the fragment.
window.addEventListener("hashchange", () => {
  if (location.hash.includes("login=")) void resume()
})

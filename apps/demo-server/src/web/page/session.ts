/** Whether this page is signed in, and who. */
import { effect, signal, untracked } from "@preact/signals"
import type { Credentials, SessionUser, SignInProblem } from "../../contract/index.ts"
import { online, request, RequestError, toRequestError, unauthorized } from "../api/request.ts"
import { tryRequest } from "./calls.ts"
import { currentRoute, takeFromAddress } from "./route.ts"

/** `closed` shows the sign-in form. `unknown` until the first response, and while the page reloads. */
export const session = signal<"unknown" | "open" | "closed">("unknown")

export const signedIn = signal<SessionUser>()

/** Why the session is `unknown`. */
export const connectionError = signal<RequestError>()

export const signInError = signal<RequestError>()

unauthorized.notify = (path) => {
  // The gateway behind the server may have refused the server's own key: ask for the session itself.
  if (/^\/(v1|api)\//.test(path)) request("GET", "/session").catch(() => undefined)
  else session.value = "closed"
}

/** Tells the other tabs of this browser who signs in: they share the session cookie. */
const tabs = new BroadcastChannel("sluice-session")

/** Reloads the page without the question in its address, so that nothing of this user stays. */
const reload = (): void => {
  session.value = "unknown"
  location.replace(location.pathname)
}

/** The browser may forbid storage: the tab then keeps nothing. */
const withStorage = <A>(use: (storage: Storage) => A): A | undefined => {
  try {
    return use(sessionStorage)
  } catch {
    return undefined
  }
}

/** The user of this tab, also if it was loaded again since. */
const TAB_USER = "sluice user"

/** Reloads if another user is signed in now: a tab has one user, and keeps nothing of another. */
const reloadForOther = (user: string): boolean => {
  const before = signedIn.value?.user ?? withStorage((storage) => storage.getItem(TAB_USER)) ?? user
  if (before === user) return false
  withStorage((storage) => storage.clear())
  reload()
  return true
}
tabs.addEventListener("message", ({ data }: MessageEvent<string>) => {
  if (!reloadForOther(data) && session.value === "closed") void resume()
})

const enter = (user: SessionUser): void => {
  if (reloadForOther(user.user)) return
  withStorage((storage) => storage.setItem(TAB_USER, user.user))
  signedIn.value = user
  session.value = "open"
}

const open = (credentials: typeof Credentials.Type): Promise<boolean> =>
  tryRequest(signInError, async () => {
    const user = await request<SessionUser>("POST", "/session", { body: credentials })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin
    tabs.postMessage(user.user)
    enter(user)
  })

/** Signs in with an API key, which begins with `sk-`, or a system access token. */
export const signIn = (secret: string): Promise<boolean> =>
  open(secret.startsWith("sk-") ? { apiKey: secret } : { accessToken: secret })

/** Ends the session of this browser and deletes what was written in it. */
export const signOut = async (): Promise<void> => {
  await request("DELETE", "/session")
  withStorage((storage) => storage.clear())
  reload()
}

const PROBLEMS: Readonly<Record<SignInProblem, string>> = {
  expired: "This sign-in has expired or was already used. Sign in again.",
  failed: "The sign-in could not be verified. Try again; the server’s log says why.",
  unknown_user: "You have no account here. Ask an administrator for an invitation.",
  disabled: "Your account is disabled. An administrator can enable it."
}

const resumeOnce = async (): Promise<void> => {
  const login = takeFromAddress("login")
  if (login !== undefined && (await open({ login }))) return
  const invitation = takeFromAddress("invitation")
  if (invitation !== undefined && (await open({ invitation }))) return
  const problem = takeFromAddress("problem")
  const message = PROBLEMS[problem as SignInProblem]
  if (message !== undefined) signInError.value = new RequestError(message, 401, "sign_in")
  try {
    enter(await request<SessionUser>("GET", "/session"))
    signInError.value = undefined
  } catch (thrown) {
    const error = toRequestError(thrown)
    if (error.status === 401) session.value = "closed"
    else connectionError.value = error
  }
}

let resumed = Promise.resolve()

/**
 * Uses the one-time login or the invitation of the address, or the cookie of an earlier visit. One call after the other: a
 * late "signed out" of the first must not close the session that the second opened.
 */
export const resume = (): Promise<void> => (resumed = resumed.then(resumeOnce))

// A printed address that is opened in a tab with this page changes only the fragment.
window.addEventListener("hashchange", () => {
  if (/login=|invitation=/.test(location.hash)) void resume()
})

/** Loads what views show, each time that one opens or the server or the session comes back. */
export const whileShown = (views: ReadonlyArray<string>, load: () => unknown, leave?: () => void) =>
  effect(() => {
    if (!views.includes(currentRoute.value.view)) leave?.()
    else if (session.value === "open" && online.value) untracked(() => void load())
  })

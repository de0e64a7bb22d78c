/** For a page without a session: a system access token or an API key opens one. */
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { sessionProblem, signIn, who } from "../page/session.ts"

export const SignIn = () => {
  const [busy, setBusy] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  // Of a session that ended, what had the focus is hidden.
  useLayoutEffect(() => input.current?.focus(), [])
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const key = new FormData(event.currentTarget as HTMLFormElement).get("key")
    if (typeof key !== "string" || key.trim() === "" || busy) return
    setBusy(true)
    await signIn(key.trim())
    setBusy(false)
  }
  return (
    <form class="sign-in" onSubmit={submit} aria-busy={busy}>
      <h1>{who.value === undefined ? "This library is locked." : "The session has ended."}</h1>
      {who.value !== undefined && <p>Sign in again: what you wrote and chose is still here.</p>}
      <p>
        Open the address that the server printed when it started: it carries a login that works once. Or give
        the system access token that was printed at the first start; or an API key, which opens what the key
        may use, but no account.
      </p>
      <label htmlFor="key">System access token or API key</label>
      <input
        id="key"
        ref={input}
        name="key"
        type="password"
        autocomplete="current-password"
        spellcheck={false}
        required
        aria-describedby="key-problem"
      />
      <p id="key-problem" class="problem" role="alert">
        {sessionProblem.value}
      </p>
      <button class="button primary" type="submit" aria-disabled={busy}>
        Open the library
      </button>
    </form>
  )
}

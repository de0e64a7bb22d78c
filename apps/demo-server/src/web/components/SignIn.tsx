/** For a page without a session: the API key opens one. */
import { useState } from "preact/hooks"
import { sessionProblem, signIn } from "../state/session.ts"

export const SignIn = () => {
  const [busy, setBusy] = useState(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const key = new FormData(event.currentTarget as HTMLFormElement).get("key")
    if (typeof key !== "string" || key.trim() === "") return
    setBusy(true)
    await signIn(key.trim())
    setBusy(false)
  }
  return (
    <form class="sign-in" onSubmit={submit} aria-busy={busy}>
      <h1>This library is locked.</h1>
      <p>
        Open the address that the server printed when it started: it carries a login that works once. Or give
        the API key that was printed at the first start.
      </p>
      <label htmlFor="key">API key</label>
      <input
        id="key"
        name="key"
        type="password"
        autocomplete="current-password"
        spellcheck={false}
        required
        placeholder="sk-…"
        aria-describedby="key-problem"
      />
      <p id="key-problem" class="problem" role="alert">
        {sessionProblem.value}
      </p>
      <button class="button primary" type="submit" disabled={busy}>
        Open the library
      </button>
    </form>
  )
}

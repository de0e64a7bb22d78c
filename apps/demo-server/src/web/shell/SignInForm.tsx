/** Signs in with a system access token or an API key. */
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { signedIn, signIn, signInError } from "../page/session.ts"

export const SignInForm = () => {
  const [busy, setBusy] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  // When a session ends, the focused element is hidden.
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
      <h1>{signedIn.value === undefined ? "Sign in" : "Your session has ended"}</h1>
      {signedIn.value !== undefined && <p>Sign in again. What you wrote is still here.</p>}
      <p>
        Open the address that the server printed when it started; its login works once. Or enter the system
        access token from the first start, or an API key. API keys can’t manage accounts.
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
        {signInError.value?.message}
      </p>
      <button class="button primary" type="submit" aria-disabled={busy}>
        Sign in
      </button>
    </form>
  )
}

/** Signs in with a system access token or an API key. */
import { signedIn, signIn, signInError } from "../page/session.ts"
import { ActionForm } from "../ui/ActionForm.tsx"

export const SignInForm = () => (
  <ActionForm class="sign-in" actions={["Sign in"]} send={(read) => signIn(read("key"))}>
    <h1>{signedIn.value === undefined ? "Sign in" : "Your session has ended"}</h1>
    {signedIn.value !== undefined && <p>Sign in again. What you wrote is still here.</p>}
    <p>
      Open the address that the server printed when it started; its login works once. Or enter the system
      access token from the first start, or an API key. API keys can’t manage accounts.
    </p>
    <label htmlFor="key">System access token or API key</label>
    <input
      id="key"
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
  </ActionForm>
)

/** What is left to spend, and the keys that spend it. */
import { useState } from "preact/hooks"
import { accountFailure, user } from "./account.ts"
import { units, usd } from "../ui/money.ts"
import { signOut, who } from "../page/session.ts"
import { uploads } from "../documents/uploads.ts"
import { toFailure } from "../api/RequestError.ts"
import { Confirm } from "../ui/Confirm.tsx"
import { Loading } from "../ui/Loading.tsx"
import { AccessToken } from "./AccessToken.tsx"
import { Keys } from "./Keys.tsx"
import { Usage } from "./UsageSection.tsx"
import { Problem } from "../ui/Problem.tsx"

const leave = () =>
  signOut().catch((thrown: unknown) => {
    accountFailure.value = toFailure(thrown)
  })

const SignOut = () => {
  const [asking, setAsking] = useState(false)
  return (
    <div class="leave">
      <button
        class="link"
        type="button"
        onClick={() => (uploads.value.running ? setAsking(true) : void leave())}
      >
        Sign out of this browser
      </button>
      {asking && (
        <Confirm
          label="Sign out while files are being sent?"
          action="Sign out"
          keep="Go on sending"
          onSure={leave}
          onDone={() => setAsking(false)}
        >
          Sign out while files are being sent? Those that are not sent yet are lost.
        </Confirm>
      )}
    </div>
  )
}

export const AccountView = () => {
  const now = user.value
  return (
    <div class="account">
      <h1>Account</h1>
      <Problem failure={accountFailure.value} />
      <Loading until={now !== undefined || accountFailure.value !== undefined} />
      {now !== undefined && (
        <>
          <section class="balance" aria-label="Balance">
            <p class="amount">{usd(now.quota)}</p>
            <p class="quiet">{`${units(now.quota)} left. Signed in as ${now.username}.`}</p>
          </section>
          <Usage />
          <Keys />
          <AccessToken />
        </>
      )}
      {now !== undefined && who.value?.role === "admin" && (
        <p class="to-administration">
          You are an administrator: <a href="#administration">users, and the log of changes</a>
        </p>
      )}
      <SignOut />
    </div>
  )
}

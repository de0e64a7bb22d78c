/** The system access token: programs that manage the account send it. */
import { useState } from "preact/hooks"
import { freshToken, renewToken, tokenFailure } from "./accessTokenState.ts"
import { Confirm } from "../ui/Confirm.tsx"
import { FreshSecret } from "../ui/NewSecret.tsx"
import { Problem } from "../ui/Problem.tsx"

export const AccessToken = () => {
  const [asking, setAsking] = useState(false)
  return (
    <section class="access-token" aria-labelledby="token-title">
      <h2 id="token-title">System access token</h2>
      <p class="quiet">
        It opens the account to a program: balance, keys, usage. It calls no model. A new one ends the one
        before.
      </p>
      {freshToken.value !== undefined && (
        <FreshSecret
          key={freshToken.value}
          name="The new token"
          secret={freshToken.value}
          what="the token"
          onSeen={() => (freshToken.value = undefined)}
        />
      )}
      <Problem failure={tokenFailure.value} />
      <button class="button" type="button" onClick={() => setAsking(true)}>
        New token
      </button>
      {asking && (
        <Confirm
          label="Make a new token?"
          action="End the old one"
          keep="Keep it"
          onSure={renewToken}
          onDone={() => setAsking(false)}
        >
          Make a new token? Programs that send the old one are refused from then on.
        </Confirm>
      )}
    </section>
  )
}

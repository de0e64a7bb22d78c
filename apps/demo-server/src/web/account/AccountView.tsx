/** The balance, its usage, the keys and the system access token. */
import { signal } from "@preact/signals"
import type { RequestError } from "../api/request.ts"
import { uploads } from "../documents/uploads.ts"
import { tryRequest } from "../page/calls.ts"
import { signedIn, signOut } from "../page/session.ts"
import { isDemo } from "../page/status.ts"
import { LinkButton, NewSecret } from "../ui/Button.tsx"
import { Confirm } from "../ui/ActionForm.tsx"
import { pluralize, usd } from "../ui/format.ts"
import { ErrorMessage, LoadState } from "../ui/Notices.tsx"
import { account, accountError, renewToken, tokenChanges } from "./account.ts"
import { KeyList } from "./KeyList.tsx"
import { UsageSection } from "./UsageSection.tsx"

const AccessToken = () => (
  <section class="stack access-token" aria-labelledby="token-title">
    <h2 id="token-title">System access token</h2>
    <p class="quiet">
      Programs use it to manage the account: balance, keys and usage. It can’t call models. A new token
      revokes the current one.
    </p>
    <NewSecret of={tokenChanges.secret} />
    <ErrorMessage error={tokenChanges.error.value} />
    <Confirm
      action="Revoke and create"
      onConfirm={renewToken}
      opener={{ kind: "button", children: "New token" }}
    >
      Create a new token? Programs that use the current one will be refused.
    </Confirm>
  </section>
)

const signOutError = signal<RequestError>()

const leave = () => tryRequest(signOutError, signOut)

const SignOut = () => (
  <div class="leave">
    <ErrorMessage error={signOutError.value} />
    <Confirm
      action="Sign out"
      keep="Continue uploading"
      onConfirm={leave}
      opener={(open) => (
        <LinkButton onClick={() => (uploads.value.running ? open() : void leave())}>
          Sign out of this browser
        </LinkButton>
      )}
    >
      Sign out during an upload? Files that are not sent yet will be lost.
    </Confirm>
  </div>
)

const Balance = ({ quota, username }: { readonly quota: number; readonly username: string }) => (
  <section class="balance" aria-label="Balance">
    <p class="amount">{usd(quota)}</p>
    <p class="quiet">
      {isDemo.value && "Demo credit: the models run in this server, and no real money is charged. "}
      {pluralize(quota, "unit")} left. Signed in as {username}.
    </p>
  </section>
)

export const AccountView = () => {
  const now = account.value
  return (
    <div class="stack account">
      <h1>Account</h1>
      <LoadState error={accountError.value} loaded={now !== undefined} />
      {now !== undefined && (
        <>
          <Balance quota={now.quota} username={now.username} />
          <UsageSection />
          <KeyList />
          <AccessToken />
        </>
      )}
      {now !== undefined && signedIn.value?.role === "admin" && (
        <p class="to-administration">
          You are an administrator: <a href="#administration">users and audit log</a>,{" "}
          <a href="#connect">connect a model</a>
        </p>
      )}
      <SignOut />
    </div>
  )
}

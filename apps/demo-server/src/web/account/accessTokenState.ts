/** The system access token: made anew, shown once. */
import { signal } from "@preact/signals"
import { renewAccessToken } from "../api/account.ts"
import { toFailure, type Failure } from "../api/RequestError.ts"
import { announce } from "../ui/announce.ts"

/** A system access token that was just made: shown this once. */
export const freshToken = signal<string | undefined>(undefined)
export const tokenFailure = signal<Failure | undefined>(undefined)

export const renewToken = async (): Promise<void> => {
  try {
    freshToken.value = await renewAccessToken()
    tokenFailure.value = undefined
    announce("The system access token was made. It is shown once: copy it now.")
  } catch (thrown) {
    tokenFailure.value = toFailure(thrown)
  }
}

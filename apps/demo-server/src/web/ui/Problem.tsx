/** What could not be done, and why. That the server does not answer is said once, above everything. */
import type { Failure } from "../api/RequestError.ts"
import { online } from "../api/request.ts"

export const Problem = ({ failure }: { readonly failure: Failure | undefined }) =>
  failure === undefined || (failure.code === "offline" && !online.value) ? null : (
    <p class="trouble" role="alert">
      {failure.message}
    </p>
  )

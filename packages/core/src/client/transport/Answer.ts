/** How one attempt ended: with an answer, or with a problem. */
import type { GatewayReason } from "../../contract/GatewayError.ts"
import type { Facts } from "./Facts.ts"

/** Why one attempt failed, and at which request of the gateway's. */
export interface Problem {
  readonly reason: GatewayReason
  readonly requestId: string | undefined
  /** It surely did not take effect: no byte of the request was sent, or it was answered 429. */
  readonly notExecuted?: boolean
  /** It arose here, before anything was sent: it says nothing of the gateway. */
  readonly local?: boolean
}

export interface CallResult<A> {
  readonly value: A
  readonly requestId: string | undefined
  /** What the answer said of itself, for spans and metrics. */
  readonly facts?: Facts
}

/** What a model of this process does not take. */
import { GatewayError, type InvalidRequest } from "@sluice/core"

/** The error of a call that is refused. */
export const refusing =
  (operation: string, model: string) =>
  (reason: InvalidRequest): GatewayError =>
    new GatewayError({ operation, model, reason })

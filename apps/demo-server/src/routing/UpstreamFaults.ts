/** Errors of upstream gateways, reworded for callers. */
import { GatewayError, InvalidRequest, InvalidResponse, ServerFailure, Unreachable } from "@sluice/core"
import { REDIRECTED } from "@sluice/core/client"
import type { MediaTask } from "../media/MediaTasks.ts"

/** Statuses about the method, the headers or the protocol, none of which is the caller's. */
const FORM_REFUSED: ReadonlySet<number | undefined> = new Set([405, 406, 411, 415, 417, 421, 426])

/**
 * Errors that are this server's fault, not the caller's: its credential was refused, its account is empty, its
 * address is wrong, or its protocol is. A 400, 401 or 403 would send the caller to look in the wrong place. Nothing
 * was executed.
 */
export const rewordOurFaults =
  ({ apiKey, url }: { readonly url: string; readonly apiKey: string }) =>
  (error: GatewayError): GatewayError => {
    const { reason } = error
    // Callers need not know the address.
    if (reason._tag === "Unreachable" && error.notExecuted === true) {
      const message = `The gateway cannot be reached: try again in a moment, or check ${url}`
      return new GatewayError({ ...error, reason: new Unreachable({ message }) })
    }
    const what =
      reason._tag === "Unauthorized"
        ? `refused this server's ${apiKey}`
        : reason._tag === "InsufficientQuota"
          ? `says that the account of this server's ${apiKey} is used up`
          : reason._tag === "InvalidRequest" && reason.code === REDIRECTED
            ? `is elsewhere than ${url} says`
            : reason._tag === "InvalidRequest" && FORM_REFUSED.has(reason.status)
              ? `refuses the form of this server's calls with status ${reason.status}: check ${url}`
              : undefined
    if (what === undefined) return error
    const message = `The gateway ${what}: ${reason.message}`
    return new GatewayError({
      ...error,
      notExecuted: true,
      reason: new ServerFailure({ message, status: 502, final: true })
    })
  }

/** A task without an id cannot be tracked: the caller does not pay for it. */
export const untrackedTask = (kind: MediaTask["kind"], model: string, why: string) => {
  const message = `${why}. It may have been made all the same, and paid for: look before you make it again.`
  return new GatewayError({
    operation: `${kind}s`,
    model,
    outcomeUnknown: true,
    reason: new InvalidResponse({ message })
  })
}

export const taskWithoutId = (kind: MediaTask["kind"], model: string) =>
  untrackedTask(
    kind,
    model,
    `The gateway began ${kind === "video" ? "a video" : "an image"} and gave no id that it can be asked for by`
  )

/** Whether a gateway cannot delete the task, or does not know it. */
export const cannotDelete = ({ reason }: GatewayError): boolean =>
  reason._tag === "NotFound" ||
  (reason._tag === "InvalidRequest" && reason.status === 405) ||
  (reason._tag === "ServerFailure" && reason.status === 501)

/** A task that goes on at the gateway is paid for. */
export const cannotCancel = (model: string) =>
  new GatewayError({
    operation: "videos",
    model,
    reason: new InvalidRequest({
      status: 409,
      code: "video_not_removable",
      message: "The gateway that makes this video cannot end it: remove it when it has completed or failed"
    })
  })

/** Rewords errors of upstream gateways for callers. */
import { GatewayError, InvalidRequest, InvalidResponse, ServerFailure, Unreachable } from "@sluice/core"
import { REDIRECTED } from "@sluice/core/client"
import { UNKNOWN_OUTCOME_NOTICE } from "@sluice/core/contract"
import type { MediaTask } from "../media/MediaTasks.ts"

/** Statuses about the method, the headers or the protocol, which this server chooses. */
const PROTOCOL_STATUSES: ReadonlySet<number | undefined> = new Set([405, 406, 411, 415, 417, 421, 426])

/**
 * Rewords errors that this server's configuration causes: its credential is rejected, its account is empty, the address
 * or the protocol is wrong. They become 502, because the caller cannot fix a 400, 401 or 403. Nothing was executed.
 */
export const rewordConfigurationErrors =
  ({ apiKey, url }: { readonly url: string; readonly apiKey: string }) =>
  (error: GatewayError): GatewayError => {
    const { reason } = error
    // The message must not reveal the address.
    if (reason._tag === "Unreachable" && error.notExecuted === true) {
      const message = `The gateway cannot be reached. Try again in a moment, or check ${url}`
      return new GatewayError({ ...error, reason: new Unreachable({ message }) })
    }
    const what =
      reason._tag === "Unauthorized"
        ? `rejected this server's ${apiKey}`
        : reason._tag === "InsufficientQuota"
          ? `reports that the balance of this server's ${apiKey} is used up`
          : reason._tag === "InvalidRequest" && reason.code === REDIRECTED
            ? `redirects to another address than ${url}`
            : reason._tag === "InvalidRequest" && PROTOCOL_STATUSES.has(reason.status)
              ? `rejects this server's requests with status ${reason.status}. Check ${url}`
              : undefined
    if (what === undefined) return error
    const message = `The gateway ${what}: ${reason.message}`
    return new GatewayError({
      ...error,
      notExecuted: true,
      reason: new ServerFailure({ message, status: 502, final: true })
    })
  }

/** A task that this server cannot track. The caller is refunded. */
export const untrackedTask = (kind: MediaTask["kind"], model: string, why: string) => {
  const message = `${why}. ${UNKNOWN_OUTCOME_NOTICE}`
  const reason = new InvalidResponse({ message })
  return new GatewayError({ operation: `${kind}s`, model, outcomeUnknown: true, reason })
}

export const taskWithoutId = (kind: MediaTask["kind"], model: string) =>
  untrackedTask(
    kind,
    model,
    `The gateway started ${kind === "video" ? "a video" : "an image"} and returned no id for it`
  )

/** Statuses of gateways without a deletion, and of vendors that cancel only tasks that have not ended. */
const NOT_DELETABLE: ReadonlySet<number> = new Set([400, 405, 409])

/** Whether a gateway cannot delete the task, or does not know it. */
export const cannotDelete = ({ reason }: GatewayError): boolean =>
  reason._tag === "NotFound" ||
  (reason._tag === "InvalidRequest" && NOT_DELETABLE.has(reason.status ?? 400)) ||
  (reason._tag === "ServerFailure" && reason.status === 501)

/** The task continues at the gateway, so its charge stays open. */
export const cannotCancel = (model: string) =>
  new GatewayError({
    operation: "videos",
    model,
    reason: new InvalidRequest({
      status: 409,
      code: "video_not_removable",
      message: "The gateway cannot cancel this video. Delete it after it has completed or failed"
    })
  })

/** The ids of tasks that run under another id at a vendor. */
import { Context } from "effect"
import { randomUUID } from "node:crypto"
import type { MediaTask } from "./MediaTasks.ts"

/** The charge of the running call. */
export const CurrentCharge = Context.Reference<string | undefined>("@sluice/demo-server/CurrentCharge", {
  defaultValue: () => undefined
})

/** The task of a charge, so that recovery finds it if the server is killed before the charge has it. */
export const taskIdOf = (kind: MediaTask["kind"], charge: string = randomUUID()): string =>
  `${kind === "video" ? "video" : "img"}_${charge}`

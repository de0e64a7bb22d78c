/** Where the data of an evaluation is. */
import { RagError } from "@sluice/rag"
import { Effect, FileSystem, Option } from "effect"
import { Flag } from "effect/cli"

/** Where it is looked for when nothing is said: beside the repository. */
const BESIDE = "../shared/data"

/** `--data`, for what is measured on prepared data; `holds` says what is looked for in it. */
export const dataFlag = (holds: string) =>
  Flag.Directory("data").pipe(
    Flag.withDescription(`Folder that holds ${holds}. Default ${BESIDE}, when it is there`),
    Flag.optional
  )

/** The folder that was said, or the one beside the repository; fails with `NotFound`. */
export const dataFolder = Effect.fn("cli.dataFolder")(function* (said: Option.Option<string>, holds: string) {
  if (Option.isSome(said)) return said.value
  const fs = yield* FileSystem.FileSystem
  if (yield* fs.exists(BESIDE).pipe(Effect.orElseSucceed(() => false))) return BESIDE
  return yield* new RagError({
    stage: "evaluate",
    reason: "NotFound",
    message: `There is no ${BESIDE} here: say where the data is with --data DIR. It holds ${holds}`
  })
})

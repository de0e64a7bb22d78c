/** When the file of the providers should be read again. */
import { Effect, FileSystem, Path, Queue, Stream } from "effect"

/** Writers often write in several steps. */
const SETTLED = "100 millis"

/** SIGHUP asks for it. At a terminal it says that the terminal is gone, and goes on to end the server. */
const hangups = process.stdin.isTTY
  ? Stream.never
  : Stream.callback<"asked">((queue) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const ask = () => void Queue.offerUnsafe(queue, "asked")
          process.on("SIGHUP", ask)
          return ask
        }),
        (ask) => Effect.sync(() => process.off("SIGHUP", ask))
      )
    )

/**
 * `changed` after something changed in the file's folder: editors and container platforms replace the file, or a link on
 * the way to it, so that watching the file itself would miss it. `asked` after SIGHUP.
 */
export const changesOf = (file: string) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const changes = fs.watch(path.dirname(file)).pipe(
        Stream.debounce(SETTLED),
        Stream.map(() => "changed" as const),
        Stream.catch((error) =>
          Stream.drain(
            Stream.fromEffect(
              Effect.logWarning(`${file} cannot be watched (${error.message}): SIGHUP has it read again`)
            )
          )
        )
      )
      return Stream.merge(changes, hangups)
    })
  )

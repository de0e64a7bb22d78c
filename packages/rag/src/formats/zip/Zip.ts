/** Parses archives: each file in them by its format. */
import { posix } from "node:path"
import { Effect } from "effect"
import { pictureOf } from "../container/OfficeFile.ts"
import { ZipContainer } from "../container/ZipContainer.ts"
import { type DocumentFormat, hasSignature, MAX_FILE_BYTES, parseError } from "../parsing/DocumentFormat.ts"
import { isHidden } from "../parsing/FileName.ts"
import { FormatFault, readWithFaults } from "../parsing/FormatFault.ts"
import { type Inner, parseInnerFiles } from "../parsing/InnerFiles.ts"
import { joinDocuments } from "../parsing/JoinDocuments.ts"

const innerOf = (from: ZipContainer, path: string): Inner => ({
  label: path,
  heading: { level: 1, text: path },
  file: Effect.tryPromise({
    try: () => from.bytes(path, MAX_FILE_BYTES),
    catch: (cause) => ({ message: cause instanceof FormatFault ? cause.message : "It is damaged." })
  }).pipe(
    Effect.flatMap((bytes) =>
      bytes === undefined
        ? Effect.fail({ message: `It has more than ${MAX_FILE_BYTES / 1048576} MiB.` })
        : Effect.succeed({
            path,
            bytes,
            picture: (reference: string) => pictureOf(from, posix.join(posix.dirname(path), reference))
          })
    )
  )
})

/** The files of an archive, each a section with its path. Those of other formats are faults. */
export const zipFormat: DocumentFormat = {
  id: "zip",
  label: "Archive",
  extensions: ["zip"],
  mediaTypes: ["application/zip"],
  sniff: (bytes) => (hasSignature(bytes, "PK\x03\x04") ? "a ZIP archive" : undefined),
  parse: Effect.fnUntraced(function* (file) {
    const from = yield* readWithFaults(file.path, () => ZipContainer.open(file.bytes))
    const names = from.names.filter((name) => !isHidden(name))
    const { faults, parts } = yield* parseInnerFiles(
      file,
      names.map((name) => innerOf(from, name))
    )
    if (parts.length === 0 && faults[0] !== undefined) {
      return yield* parseError(file.path, "Malformed", `no file in it can be read. ${faults[0].message}`)
    }
    const { pictures: _, ...parsed } = joinDocuments({ format: "zip", title: "", faults }, parts)
    return parsed
  }),
  inflates: true,
  storesParsed: true
}

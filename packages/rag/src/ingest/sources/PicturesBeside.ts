/** The pictures beside a document that it was read with: they change while its own bytes stay as they are. */
import { Effect } from "effect"
import type { PictureBeside } from "../../document/Document.ts"
import { DocumentFormats, formatOf } from "../../formats/DocumentFormats.ts"
import type { PictureFile } from "../../formats/parsing/Pictures.ts"
import { sha256 } from "../../embedding/PassageEmbedder.ts"

/** Takes note of every picture that is asked for. */
export const watching = (picture: PictureFile) => {
  const seen = new Map<string, PictureBeside>()
  const watched: PictureFile = (reference) =>
    Effect.tap(picture(reference), (found) => Effect.sync(() => seen.set(reference, noted(reference, found))))
  return { picture: watched, seen: (): ReadonlyArray<PictureBeside> => [...seen.values()] }
}

/** Whether a document would be read with the same pictures now. */
export const sameStill = (seen: ReadonlyArray<PictureBeside>, picture: PictureFile): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    for (const { reference, sha256: before } of seen) {
      const now = noted(reference, yield* picture(reference))
      if (now.sha256 !== before) return false
    }
    return true
  })

/** Whether a file may show pictures: those of the others, of which there are many more, are never looked for. */
export const mayShowPictures = (path: string, bytes: Uint8Array): Effect.Effect<boolean> =>
  Effect.map(DocumentFormats, (formats) => {
    if (formatOf(path, formats)?.showsPictures !== true) return false
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")
    // The zeros are UTF-16's.
    // oxlint-disable-next-line no-control-regex
    return /!\0?\[|<\0?i\0?m\0?g/i.test(text)
  })

const noted = (reference: string, found: Uint8Array | string | undefined): PictureBeside => ({
  reference,
  ...(found === undefined ? {} : { sha256: sha256(found) })
})

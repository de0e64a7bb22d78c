/** The picture files that a document links to. They may change while the document's own bytes stay the same. */
import { Effect } from "effect"
import type { LinkedPicture } from "../../document/Document.ts"
import { sha256 } from "../../document/Hash.ts"
import { DocumentFormats, formatOf } from "../../formats/DocumentFormats.ts"
import type { PictureFile } from "../../formats/parsing/Pictures.ts"

/** Reads pictures and records which were read. */
export const recordPictures = (picture: PictureFile) => {
  const seen = new Map<string, LinkedPicture>()
  const recording: PictureFile = (reference) =>
    Effect.tap(picture(reference), (found) =>
      Effect.sync(() => seen.set(reference, linkedPicture(reference, found)))
    )
  return { picture: recording, seen: (): ReadonlyArray<LinkedPicture> => [...seen.values()] }
}

/** Whether all of these pictures are as they were when the document was parsed. */
export const picturesUnchanged = (
  pictures: ReadonlyArray<LinkedPicture>,
  picture: PictureFile
): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    for (const { reference, sha256 } of pictures) {
      if (linkedPicture(reference, yield* picture(reference)).sha256 !== sha256) return false
    }
    return true
  })

/** Whether a file may link to pictures. The other files, which are many more, need no check of theirs. */
export const mayLinkPictures = (path: string, bytes: Uint8Array): Effect.Effect<boolean> =>
  Effect.map(DocumentFormats, (formats) => {
    if (formatOf(path, formats)?.showsPictures !== true) return false
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")
    // UTF-16 has a zero byte between two characters.
    // oxlint-disable-next-line no-control-regex
    return /!\0?\[|<\0?i\0?m\0?g/i.test(text)
  })

const linkedPicture = (reference: string, found: Uint8Array | string | undefined): LinkedPicture => ({
  reference,
  ...(found === undefined ? {} : { sha256: sha256(found) })
})

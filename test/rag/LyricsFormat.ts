/** A document format that the package does not have: lyrics, one paragraph for each cue. */
import { documentFormats, type DocumentFormat, parseError } from "@sluice/rag/formats"
import { Effect } from "effect"

export const lyricsFormat: DocumentFormat = {
  id: "lyrics",
  label: "Lyrics",
  extensions: ["lrc"],
  mediaTypes: ["application/x-lyrics"],
  sniff: (bytes) =>
    /^\s*\d+\r?\n\d\d:/.test(new TextDecoder().decode(bytes.subarray(0, 64))) ? "lyrics" : undefined,
  parse: ({ bytes, path }) =>
    Effect.gen(function* () {
      const cues = new TextDecoder()
        .decode(bytes)
        .trim()
        .split(/\n{2,}/)
        .map((cue) => cue.split("\n").slice(2).join("\n"))
      if (cues.includes("")) return yield* parseError(path, "Malformed", "a cue has no text.")
      let text = ""
      const blocks = cues.map((cue) => {
        const start = text === "" ? 0 : text.length + 2
        text += `${text === "" ? "" : "\n\n"}${cue}`
        return { kind: "paragraph" as const, start, end: text.length }
      })
      return { format: "lyrics", title: "", text, blocks, pages: [], lines: [], figures: [], faults: [] }
    }),
  storesParsed: true
}

export const withLyrics: ReadonlyArray<DocumentFormat> = [...documentFormats, lyricsFormat]

export const LYRICS = `1
00:00:01,000 --> 00:00:03,000
The lock keeper opens the gate at six.

2
00:00:04,000 --> 00:00:06,000
Mooring a boat overnight costs twelve crowns.
`

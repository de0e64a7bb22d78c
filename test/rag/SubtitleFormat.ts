/** A document format that the package does not have: subtitles, one paragraph for each cue. */
import { documentFormats, type DocumentFormat, parseError } from "@sluice/rag"
import { Effect } from "effect"

export const subtitleFormat: DocumentFormat = {
  id: "subtitles",
  label: "Subtitles",
  extensions: ["srt"],
  mediaTypes: ["application/x-subrip"],
  sniff: (bytes) =>
    /^\s*\d+\r?\n\d\d:/.test(new TextDecoder().decode(bytes.subarray(0, 64))) ? "subtitles" : undefined,
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
      return { format: "subtitles", title: "", text, blocks, pages: [], lines: [], figures: [], faults: [] }
    }),
  storesParsed: true
}

export const withSubtitles: ReadonlyArray<DocumentFormat> = [...documentFormats, subtitleFormat]

export const SUBTITLES = `1
00:00:01,000 --> 00:00:03,000
The lock keeper opens the gate at six.

2
00:00:04,000 --> 00:00:06,000
Mooring a boat overnight costs twelve crowns.
`

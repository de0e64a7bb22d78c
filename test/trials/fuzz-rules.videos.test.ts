/** The interface's rules for videos, by model group, as JSON and as forms. */
import { layer } from "@effect/vitest"
import { makeDataUri } from "@sluice/core/media"
import type { VIDEO_GROUPS } from "@sluice/core/contract"
import { Effect, Schema } from "effect"
import { testServer, TestServer } from "../demo-server/TestServer.ts"
import { GIF, png, RED } from "../laws/Pictures.ts"
import { asForm, checkRules, type Rule } from "../fuzz/Rule.ts"

const path = "/v1/videos"

/** Durations and sizes of each group. A range is tested at both ends, in between, and just outside. */
const groups = {
  "V-A": { seconds: ["4", "8", "12"], size: ["720x1280", "1280x720", "1024x1792", "1792x1024"] },
  "V-B": { seconds: ["4", "6", "8"], size: ["720p", "1080p", "4k"] },
  "V-C": { seconds: ["4", "6", "8"], size: ["720p", "1080p"] },
  "V-D": { seconds: ["2", "7", "15"], size: ["1280x720", "1920x1080"] },
  "V-E": { seconds: ["5", "10"], size: ["480P", "720P", "1080P"] },
  "V-F": { seconds: ["5"], size: ["480P", "1080P"] },
  "V-G": { seconds: ["5", "10"], size: ["16:9", "9:16", "4:3", "3:4", "1:1", "21:9"] }
} as const satisfies Record<keyof typeof VIDEO_GROUPS, object>

const all = Object.entries(groups)
const modelOf = (group: string) => ({ model: `sluice-video-${group.toLowerCase()}` })
const fromImage = { model: "sluice-video-from-image" }
const picture = makeDataUri("image/png", png(RED))

/** Rules that a form can express too. */
const rules: ReadonlyArray<Rule> = [
  ...all.map(([group, { seconds, size }]) => ({
    rule: `${group}: its seconds and its sizes, and no other group's`,
    takes: [
      ...seconds.map((value) => ({ ...modelOf(group), seconds: value })),
      ...size.map((value) => ({ ...modelOf(group), size: value }))
    ],
    refuses: [
      ...["0", "1", "3.5", "16", "999"].map(
        (value) => ["seconds", { ...modelOf(group), seconds: value }] as const
      ),
      ...["100x100", "479P", "1081P", "2:1", "huge"].map(
        (value) => ["size", { ...modelOf(group), size: value }] as const
      )
    ]
  })),
  {
    rule: "seconds is a number of seconds as text",
    refuses: ["1e1", "", "five", "-5", "0x5", " 5"].map(
      (seconds) => ["seconds", { ...modelOf("V-G"), seconds }] as const
    )
  },
  {
    rule: "image-to-video wants input_reference, an image; never a file of the server",
    takes: [{ ...fromImage, input_reference: picture }],
    refuses: [
      undefined,
      makeDataUri("image/png", GIF),
      "data:image/gif;base64,R0lGODlhAQABAAAAACw=",
      "/etc/passwd",
      "file:///etc/passwd",
      "http://127.0.0.1/a.png",
      "http://[::1]/a.png"
    ].map((input_reference) => ["input_reference", { ...fromImage, input_reference }] as const)
  },
  {
    rule: "model and prompt are wanted",
    refuses: [
      ["prompt", { ...modelOf("V-A"), prompt: undefined }],
      ["prompt", { ...modelOf("V-A"), prompt: "" }],
      ["model", {}],
      ["model", { model: "sluice-image-i1" }]
    ]
  }
]

/** Rules that only JSON can express. */
const types: ReadonlyArray<Rule> = [
  {
    rule: "seconds is text, never a number",
    refuses: all.flatMap(([group, { seconds }]) =>
      seconds.map((value) => ["seconds", { ...modelOf(group), seconds: Number(value) }] as const)
    )
  },
  {
    rule: "null is a field that is not given; input_reference may be an object",
    takes: [
      ...all.map(([group]) => ({ ...modelOf(group), seconds: null, size: null, input_reference: null })),
      { ...fromImage, seconds: null, size: null, input_reference: { image_url: picture } }
    ],
    refuses: [
      ["prompt", { ...modelOf("V-A"), prompt: null }],
      ["model", { model: null }],
      ["input_reference", { ...fromImage, input_reference: { file_id: "file-1" } }],
      ["input_reference", { ...fromImage, input_reference: 7 }],
      ["size", { ...modelOf("V-A"), size: 720 }]
    ]
  }
]

const Created = Schema.Struct({ id: Schema.String, status: Schema.Literals(["queued", "in_progress"]) })

/** Deletes the task at once: other tests check the video itself. */
const after = Effect.fnUntraced(function* (json: unknown) {
  const { id } = Schema.decodeUnknownSync(Created)(json)
  const { call } = yield* TestServer
  yield* call(`${path}/${id}`, { method: "DELETE" })
})

const base = { prompt: "A barge in a lock" }

layer(testServer(), { excludeTestServices: true })("videos, in JSON", (it) => {
  checkRules(it, [...rules, ...types], { path, base, after })
})

layer(testServer(), { excludeTestServices: true })("videos, as forms", (it) => {
  // One group is enough: all groups read fields in the same way.
  const some = rules.filter(({ rule }) => !/^V-[B-G]/.test(rule))
  checkRules(it, some, { path, base, after, send: asForm })
})

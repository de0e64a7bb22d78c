/** The samples: each starter question of the page has its answer in them. */
import { assert, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { AnswerBody, DocumentText, ServerStatus } from "../../apps/demo-server/src/contract/index.ts"
import { startServer } from "../demo-server/TestServer.ts"

/** What the first sentence of each answer must contain, and the document that it must cite. */
const expected = {
  "How long may a boat stay at the waiting quay?": ["four hours", "handbook/07-mooring-and-fees.md"],
  "What is done at orange alert level?": ["All three weir gates open", "handbook/03-water-and-weir.md"],
  "How do I work the gates by hand?": ["84 turns", "handbook/04-when-things-go-wrong.md"],
  "By how much is the lower pintle bearing worn?": ["7 mm", "inspection-report.pdf"],
  "When is the beam engine under steam?": ["the last Sunday of each month", "visiting.html"],
  "What was the wettest day on record?": ["14 July 1932", "handbook/06-weather-station.md"],
  "What share of the flow goes through weir gate 2?": ["71 %", "flow-study.pdf"],
  "What does casting in the lower sill cost?": ["4,200 crowns", "inspection-report.pdf"],
  "How many lockings were there in July 2024?": ["July: 1043", "lockings-2024.png"],
  "船闸几点开放？": ["每天7:00至20:00开放", "handbook/08-中文简介.md"],
  "上行的船只应该停在哪里？": ["黄线之后", "handbook/08-中文简介.md"]
} as const

it.live("answers every starter question from the samples", () =>
  Effect.gen(function* () {
    const { json } = yield* startServer({ samples: true })
    const { questions } = yield* json(ServerStatus, "/status").pipe(
      Effect.repeat({ until: ({ state }) => state === "ready", schedule: Schedule.spaced("20 millis") })
    )
    assert.sameMembers([...questions], Object.keys(expected))
    for (const [question, [says, path]] of Object.entries(expected)) {
      const { sentences, citations } = yield* json(AnswerBody, "/qa", { json: { question } })
      const [first] = sentences
      assert.include(first?.text, says, question)
      const cited = citations.find(({ n }) => first?.citations.includes(n))
      assert.strictEqual(cited?.document, path)
      const { text } = yield* json(DocumentText, `/documents/${cited?.documentId}`)
      assert.strictEqual(text.slice(cited?.start, cited?.end), cited?.quote)
      if (/\.(?:pdf|png)$/.test(path)) assert.isNotEmpty(cited?.boxes)
    }
  }).pipe(Effect.scoped)
)

/** How models behave when they are asked for cited sentences, and what is read from each. A real server scripts them. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey, GatewayReader, Reader } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Effect, Layer, Stream } from "effect"
import { type Behaviour, delta, events, json, LoopbackGateway, openAi } from "./LoopbackGateway.ts"

const FEE = "Mooring a boat overnight costs twelve crowns."
const TIDE = "The harbour master measures the tide every hour."
const POLICY = "Personal information is never sold"
const BOARD = "See the [tide board](https://tide.example/board) — it is “always” right"
const PASSAGES = [
  { title: "Fees", text: `# Fees\n\n${FEE} Children pay nothing. A ticket is valid for 30 days. ${POLICY}.` },
  {
    title: "Tides",
    text: `${TIDE}\n\n| Gate | Opens at |\n| --- | --- |\n| **North** | 06:30 |\n\n${BOARD}.`
  }
]

const Readers = Layer.unwrap(
  Effect.map(LoopbackGateway, ({ url: baseUrl }) =>
    Layer.provide(GatewayReader.layer({ model: "c" }), GatewayClient.layer({ baseUrl, apiKey: apiKey("k") }))
  )
).pipe(Layer.provideMerge(LoopbackGateway.layer))

const stop = (finish_reason = "stop") => ({ choices: [{ delta: {}, finish_reason }] })

/** A response that is streamed a few characters at a time, each part an event. */
const says =
  (text: string, finish = "stop"): Behaviour =>
  (_, response) =>
    events(response, [...(text.match(/.{1,7}/gsu) ?? []).map(delta), stop(finish), "[DONE]"])

/** The first behaviour, then the next one for each further request; the last one stays. */
const inTurn =
  (...behaviours: ReadonlyArray<Behaviour>): Behaviour =>
  (seen, response, nth) =>
    behaviours[Math.min(nth, behaviours.length - 1)]!(seen, response, nth)

/** Refuses requests that have a field, as reasoning models and older servers do. */
const refusing =
  (message: string, has: (body: object) => boolean, then: Behaviour): Behaviour =>
  (seen, response, nth) =>
    has(seen.body) ? json(response, openAi({ message }), 400) : then(seen, response, nth)

const line = (text: string, ...citations: ReadonlyArray<readonly [passage: unknown, quote: string]>) =>
  JSON.stringify({ text, citations: citations.map(([passage, quote]) => ({ passage, quote })) })

const GOOD = line("It costs twelve crowns.", [1, FEE])

interface Expected {
  /** `answered`, `not answered`, or why it was not read. */
  readonly outcome: string
  /** The quotes of all sentences. A star marks one that the reader found itself. */
  readonly quotes?: ReadonlyArray<string>
  /** Requests to the model. Default 1. */
  readonly calls?: number
}

const answered = (...quotes: ReadonlyArray<string>): Expected => ({ outcome: "answered", quotes })

const BEHAVIOURS: ReadonlyArray<readonly [string, Behaviour, Expected]> = [
  ["one object on each line", says(`${GOOD}\n${line("Hourly.", [2, TIDE])}`), answered(FEE, TIDE)],
  [
    "markers instead of quotes",
    says("Mooring a boat overnight costs twelve crowns [1]."),
    answered(`*${FEE}`)
  ],
  [
    "an object with a number in place of a citation",
    says('{"text":"Mooring a boat costs twelve crowns.","citations":[1]}'),
    answered(`*${FEE}`)
  ],
  [
    "a citation without a quote",
    says('{"text":"Mooring a boat costs twelve crowns.","citations":[{"passage":1}]}'),
    answered(`*${FEE}`)
  ],
  ["the passage as text", says(line("It costs twelve crowns.", ["1", FEE])), answered(FEE)],
  ["the passage as a marker", says(line("It costs twelve crowns.", ["[1]", FEE])), answered(FEE)],
  [
    "an object around all sentences",
    says(`{"answered":true,"sentences":[${GOOD},${line("Hourly.", [2, TIDE])}]}`),
    answered(FEE, TIDE)
  ],
  ["another object around them", says(`{"response": {"answer": [${GOOD}]}}`), answered(FEE)],
  [
    "other names of the fields",
    says(`{"sentence":"Twelve crowns.","sources":[{"passage_id":1,"excerpt":${JSON.stringify(FEE)}}]}`),
    answered(FEE)
  ],
  ["prose without markers", says("Mooring a boat overnight costs twelve crowns."), answered(`*${FEE}`)],
  [
    "an unescaped quotation mark",
    says(
      '{"text":"It is "always" right.","citations":[{"passage":2,"quote":"it is "always" right"}]}\n' + GOOD
    ),
    answered(`*${BOARD}.`, FEE)
  ],
  ["a code fence", says(`\`\`\`json\n[\n${GOOD}\n]\n\`\`\``), answered(FEE)],
  [
    "reasoning before the answer",
    says(`<think>\nNOT_FOUND? No: {"text":"x"}\n</think>\n${GOOD}`),
    answered(FEE)
  ],
  ["words before the object", says(`Here is the answer: ${GOOD}`), answered(FEE)],
  [
    "trailing commas",
    says(`{"text":"Twelve crowns.","citations":[{"passage":1,"quote":${JSON.stringify(FEE)},},],}`),
    answered(FEE)
  ],
  [
    "single quotation marks",
    says(`{'text': 'It's twelve crowns.', 'citations': [{'passage': 1, 'quote': '${FEE}'}]}`),
    answered(FEE)
  ],
  [
    "names without quotation marks",
    says(`{text: "Twelve crowns.", citations: [{passage: 1, quote: "${FEE}"}]}`),
    answered(FEE)
  ],
  [
    "a broken object, then good ones",
    says(`{"text":"Broken, "citations":[{"pass\n${GOOD}\n${line("Hourly.", [2, TIDE])}`),
    answered(FEE, TIDE)
  ],
  [
    "an object without its end, then a good one",
    says(`{"text":"Hourly.","citations":[{"passage":2,"quote":"${TIDE}"}\n${GOOD}`),
    answered(TIDE, FEE)
  ],
  [
    "a real line break in a text",
    says(
      `{"text":"It costs\ntwelve crowns.","citations":[{"passage":1,"quote":"${FEE.replace("boat ", "boat\n")}"}]}`
    ),
    answered(FEE)
  ],
  [
    "an ellipsis in a quote",
    says(line("It costs twelve crowns.", [1, "Mooring a boat … costs twelve crowns."])),
    answered(FEE)
  ],
  [
    "quotes without Markdown",
    says(line("North opens at 06:30.", [2, "North | 06:30"])),
    answered("North** | 06:30")
  ],
  [
    "a quote of a link's text",
    says(line("It is right.", [2, "See the tide board - it is 'always' right!"])),
    answered(`${BOARD}.`)
  ],
  [
    "full-width forms and soft hyphens",
    says(line("It costs twelve crowns.", [1, "Ｍｏｏｒｉｎｇ a boat over\u00ADnight costs twelve crowns"])),
    answered(FEE.slice(0, -1))
  ],
  [
    "one wrong quote of two",
    says(line("Twelve crowns.", [1, FEE], [1, "Mooring is free of charge for all."])),
    answered(FEE)
  ],
  ["a quote from another passage", says(line("Twelve crowns.", [2, FEE])), answered(FEE)],
  ["a passage that does not exist", says(line("Twelve crowns.", [9, FEE])), answered(FEE)],
  ["an answer in another language", says(line("系船一晚要十二克朗。", [1, FEE])), answered(FEE)],
  [
    "a quote that is too short to prove anything",
    says(line("Mooring a boat costs twelve crowns.", [1, "twelve"])),
    answered(`*${FEE}`)
  ],
  [
    "a sentence twice",
    says(`${GOOD}\n${GOOD}\n${line("It costs twelve crowns. ", [1, FEE])}`),
    answered(FEE)
  ],
  ...[
    "【1†source】",
    "【4:0†source】",
    "[^1]",
    "[[1]]",
    "[Passage 1]",
    "[citation:1]",
    "(Source 1)",
    "[1-2]",
    "［1］",
    "[0]",
    "[7]"
  ].map((marker): (typeof BEHAVIOURS)[number] => [
    `the marker ${marker}`,
    says(`Mooring a boat overnight costs twelve crowns ${marker}. Children pay nothing ${marker}.`),
    answered(`*${FEE}`, "*Children pay nothing.")
  ]),
  [
    "raised numbers",
    says("Mooring a boat overnight costs twelve crowns.¹ Children pay nothing.¹"),
    answered(`*${FEE}`, "*Children pay nothing.")
  ],
  [
    "the name of a passage in place of a marker",
    says("Passage 2 states that the harbour master measures the tide every hour."),
    answered(`*${TIDE}`)
  ],
  [
    "the title of a passage in a sentence",
    says("According to the Tides page, the harbour master measures the tide every hour [2]."),
    answered(`*${TIDE}`)
  ],
  [
    "quotes by the number of their passage",
    says(`{"answer":"It costs twelve crowns [1].","citations":{"1":${JSON.stringify(FEE)}}}`),
    answered(FEE)
  ],
  [
    "names of the fields of another model",
    says(`{"response":"Twelve crowns.","citations":[{"cited_text":${JSON.stringify(FEE)}}]}`),
    answered(FEE)
  ],
  [
    "one quote of two sentences that are apart",
    says(line("Twelve crowns, none for children.", [1, `${FEE} ${POLICY}.`])),
    answered(FEE, `${POLICY}.`)
  ],
  [
    "reasoning without its first tag",
    says(`Is it free?\n${TIDE}\n</think>\n\nMooring a boat overnight costs twelve crowns [1].`),
    answered(`*${FEE}`)
  ],
  [
    "reasoning in the tags of other models",
    says(`[THINK]${line("x", [1, TIDE])}[/THINK]◁think▷${TIDE}◁/think▷${GOOD}`),
    answered(FEE)
  ],
  ["sentences before objects", says(`${TIDE}\n${GOOD}`), answered(FEE)],
  ["a row of a table", says("The North gate opens at 06:30 [2]."), answered("*| **North** | 06:30 |")],
  ["not found, as asked", says("NOT_FOUND"), { outcome: "not answered" }],
  ["not found, in an object", says('{"answered":false,"sentences":[]}'), { outcome: "not answered" }],
  [
    "not found, in words",
    says("The provided passages do not contain information about this."),
    { outcome: "not answered" }
  ],
  [
    "not found, in words of an object",
    says('{"text":"The passages do not mention the price.","citations":[]}'),
    { outcome: "not answered" }
  ],
  [
    "not found, in words of another language",
    says("提供的段落中没有提到这个问题。"),
    { outcome: "not answered" }
  ],
  ...[
    "not_found",
    "Unanswerable.",
    '{"answered":"false","sentences":[]}',
    '{"answer":null,"citations":[]}',
    "Je ne trouve pas cette information.",
    "No encuentro esa información.",
    "I passaggi non contengono queste informazioni.",
    "Os trechos não mencionam o preço.",
    "В предоставленных отрывках нет информации об этом."
  ].map((text): (typeof BEHAVIOURS)[number] => [
    `not found, as ${text}`,
    says(text),
    { outcome: "not answered" }
  ]),
  [
    "prose with markers whose words are those of an outcome",
    says(`${POLICY} [1]. I cannot provide a ticket.`),
    answered(`*${POLICY}.`)
  ],
  [
    "words of not found, then an answer",
    says(`The passages do not mention canoes. ${FEE} [1]`),
    answered(`*${FEE}`)
  ],
  ["nothing, then an answer", inTurn(says(""), says(GOOD)), { ...answered(FEE), calls: 2 }],
  ["nothing, twice", says(""), { outcome: "protocol", calls: 2 }],
  [
    "prose that no passage supports",
    says("Bananas grow in warm countries. Ships are large."),
    { outcome: "protocol", calls: 2 }
  ],
  [
    "invented quotes, then real ones",
    inTurn(says(line("Free.", [1, "Mooring is free of charge."])), says(GOOD)),
    { ...answered(FEE), calls: 2 }
  ],
  [
    "invented quotes, twice",
    says(line("Free.", [1, "Mooring is free of charge."])),
    { outcome: "unproven", quotes: ["Mooring is free of charge."], calls: 2 }
  ],
  [
    "cut off in its first sentence, twice",
    says(GOOD.slice(0, 30), "length"),
    { outcome: "truncated", calls: 2 }
  ],
  [
    "all tokens spent on reasoning, then an answer",
    inTurn(says("<think>So, the", "length"), says(GOOD)),
    { ...answered(FEE), calls: 2 }
  ],
  [
    "cut off after a sentence",
    says(`${GOOD}\n${GOOD.slice(0, 25)}`, "length"),
    { outcome: "truncated", quotes: [FEE] }
  ],
  ["a content filter", says("", "content_filter"), { outcome: "filtered" }],
  [
    "a refusal in its own field",
    (_, response) => events(response, [{ choices: [{ delta: { refusal: "I can't help." } }] }, stop()]),
    { outcome: "refused" }
  ],
  ["a refusal in words", says("I'm sorry, but I can't assist with that request."), { outcome: "refused" }],
  [
    "a tool call in place of text",
    (_, response) =>
      events(response, [
        {
          choices: [{ delta: { tool_calls: [{ index: 0, function: { name: "answer", arguments: "{}" } }] } }]
        },
        stop("tool_calls")
      ]),
    { outcome: "protocol", calls: 2 }
  ],
  [
    "max_tokens is refused",
    refusing(
      "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
      (body) => "max_tokens" in body,
      says(GOOD)
    ),
    { ...answered(FEE), calls: 2 }
  ],
  [
    "temperature is refused",
    refusing(
      "'temperature' does not support 0 with this model.",
      (body) => "temperature" in body,
      says(GOOD)
    ),
    { ...answered(FEE), calls: 2 }
  ],
  [
    "a response format is refused",
    refusing(
      "This model does not support response_format json_schema.",
      (body) => "response_format" in body,
      says(GOOD)
    ),
    { ...answered(FEE), calls: 2 }
  ],
  [
    "every option is refused, without its name",
    refusing(
      "Bad request.",
      (body) => "temperature" in body || "max_tokens" in body || "response_format" in body,
      says(GOOD)
    ),
    { ...answered(FEE), calls: 2 }
  ]
]

const read = Effect.fn(function* (behaviour: Behaviour) {
  const { behave, seen } = yield* LoopbackGateway
  behave(behaviour)
  const parts = yield* Stream.runCollect((yield* Reader).read("What does mooring cost?", PASSAGES))
  const sentences = parts.flatMap((part) => (part.type === undefined ? [part] : []))
  const end = parts.find((part) => part.type === "end")
  const quotes = sentences.flatMap(({ evidence }) =>
    evidence.map(({ quote, quoted }) => `${quoted === "matched" ? "*" : ""}${quote}`)
  )
  const outcome = end?.notRead?.reason ?? (sentences.length > 0 ? "answered" : "not answered")
  return { outcome, quotes, calls: seen.length, parts }
}, Effect.provide(Readers))

describe("a model that answers with", () => {
  it.effect.each([
    ["a tag around the answer", `<answer>\n${FEE} [1]\n</answer>`],
    ["a list of its sources", `${FEE} [1]\n\n**Sources:**\n- [1] Fees\n- Price list`],
    ["notes", `${FEE}[^1]\n\n[^1]: Fees`],
    ["markers in an object", line(`${FEE} [1]`, [1, FEE])]
  ] as const)("%s has none of it in its sentences, and nothing was left out", ([, text]) =>
    Effect.gen(function* () {
      const { parts } = yield* read(says(text))
      const texts = parts.flatMap((part) => (part.type === undefined ? [part.text] : []))
      assert.deepStrictEqual(texts, [FEE])
    })
  )

  it.effect.each(BEHAVIOURS)("%s", ([, behaviour, { calls = 1, outcome, quotes = [] }]) =>
    Effect.gen(function* () {
      const { parts: _, ...seen } = yield* read(behaviour)
      assert.deepStrictEqual(seen, { outcome, quotes, calls })
    })
  )
})

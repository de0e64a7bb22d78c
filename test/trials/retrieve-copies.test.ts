/** Duplicate texts: which one is kept, and which texts only look like duplicates. */
import { assert, describe, it } from "@effect/vitest"
import { CANDIDATES } from "@sluice/rag/retrieval"
import { Effect } from "effect"
import { ALSO_AT } from "../../packages/rag/src/retrieval/stages/Dedupe.ts"
import type { StoredPassage } from "../../packages/rag/src/document/Document.ts"
import { compareTexts } from "../../packages/rag/src/retrieval/stages/Duplicates.ts"
import { modelsLayer } from "../rag/Models.ts"
import { library, pathsOf } from "../rag/SmallLibrary.ts"

describe("retrieval of duplicates", () => {
  it.effect("keeps a text once, and names its other places", () =>
    Effect.gen(function* () {
      const long =
        "The keeper of the lock writes down each boat that passes, its name and where it comes from, before the lower gate is shut behind it. In the evening the book goes to the office of the canal, where a clerk counts how many went up and how many went down, what they carried and whether the fee was paid at once or is still due at the end of the month."
      const from = yield* library({
        "2023/rules.md": `# Rules\n\n${long}\n`,
        "2024/rules.md": `# Rules\n\n${long.replace("its name and", "and also its names and")}\n`,
        "copy.md": `# Rules\n\n${long.toUpperCase()}\n`,
        "night.md": `# Rules\n\n${long.replace("writes down", "never writes down")}\n`,
        "other.md": "# Weir\n\nThe weir keeper sleeps near the lock.\n"
      })
      const { kept, trace } = yield* from.retrieve("Who passes the lock with a boat?", { keep: 3 })
      assert.strictEqual(trace.passages.length, 5, "all of them keep their place in the store")
      assert.strictEqual(kept.length, 3)
      const [first] = kept
      assert.deepStrictEqual(
        [
          first?.document.path ?? "",
          ...(first?.alsoAt ?? []).map(({ document }) => document.path)
        ].toSorted(),
        ["2023/rules.md", "2024/rules.md", "copy.md"]
      )
      assert.deepStrictEqual(
        trace.passages.filter(({ sameAs }) => sameAs !== undefined).map(({ kept, sameAs }) => [kept, sameAs]),
        [
          [false, first?.id],
          [false, first?.id]
        ]
      )
      // A word of the question is a decisive difference.
      const asked = yield* from.retrieve("Whose name is written down?", { keep: 5 })
      assert.include(pathsOf(asked), "2024/rules.md")
      assert.include(pathsOf(asked), "night.md")
      assert.isTrue(pathsOf(asked).includes("2023/rules.md") || pathsOf(asked).includes("copy.md"))
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("keeps equal texts under different headings", () =>
    Effect.gen(function* () {
      const rule =
        "Close the valve, wait until the needle of the gauge stands still, and write down what it shows, the hour and your name; then open the valve again and tell the next shift what you have done and what is left to do."
      const from = yield* library({
        "a.md": "# Parameters of the pump\n\nNone.\n\n# Errors of the pump\n\nNone.\n",
        "b.md": `# Checking the red boiler\n\n${rule}\n\n# Checking the blue boiler\n\n${rule}\n`
      })
      const headings = (question: string) =>
        Effect.map(from.retrieve(question, { keep: 4 }), ({ kept }) =>
          kept.map(({ headings }) => headings.at(-1)).toSorted()
        )
      assert.includeMembers(yield* headings("pump errors, parameters"), [
        "Errors of the pump",
        "Parameters of the pump"
      ])
      assert.include(yield* headings("gauge of the blue boiler"), "Checking the blue boiler")
      assert.include(yield* headings("gauge of the red boiler"), "Checking the red boiler")
      const one = (yield* headings("what does the gauge show")).filter((name) => name?.startsWith("Checking"))
      assert.strictEqual(one.length, 1, "of what nobody asked for, one is enough")
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("keeps texts that differ in a form of a question's word, or in a part of a name", () =>
    Effect.gen(function* () {
      const code = (noun: string) =>
        `find${noun}ById opens a connection of the pool, asks the database for the row whose identifier is given, and gives it back as an object, or nothing where there is none; the connection goes back to the pool in either case, and what went wrong is written to the log with the time and the name of the caller, so that whoever looks at it the next morning can tell what happened and who has to be told.`
      const from = yield* library({
        "a.md": `# Rows\n\n${code("Boat")}\n`,
        "b.md": `# Rows\n\n${code("Fee")}\n`,
        "c.md": `# Rows\n\n${code("Gate")}\n`
      })
      const keptFor = (question: string) => Effect.map(from.retrieve(question), pathsOf)
      // The other two do not differ in a word of the question: at most two of such passages are kept.
      for (const [question, asked] of [
        ["connection that finds boats", "a.md"],
        ["connection that finds the fee", "b.md"]
      ] as const) {
        const kept = yield* keptFor(question)
        assert.lengthOf(kept, 3)
        assert.include(kept, asked)
      }
      assert.lengthOf(yield* keptFor("what goes back to the pool?"), 2)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect.each([
    ["can moor", "can't moor"],
    ["does moor", "doesn’t moor"],
    ["may moor", "must moor"],
    ["darf anlegen", "darf nicht anlegen"],
    ["peut accoster", "ne peut pas accoster"],
    ["moors two hours", "moors three hours"],
    ["moors for days", "moors for weeks"],
    ["moors by leave of Alice", "moors by leave of Berta"],
    ["opens the valve", "closes the valve"],
    ["moors on the left", "moors on the right"],
    ["leaves when lights are on", "leaves when lights are off"],
    ["pays 12 as a guest and 6 as a member", "pays 6 as a guest and 12 as a member"],
    ["may moor and must not swim", "may not moor and must swim"],
    ["可以停泊两小时", "可以停泊三小时"],
    ["应当打开阀门", "应当关闭阀门"],
    ["係留することができます", "係留することができません"]
  ] as const)("keeps two rules that differ in %s and %s", ([one, other]) =>
    Effect.gen(function* () {
      const rule = (does: string) =>
        `# Rules\n\nWhoever arrives at the upper basin after sunset ${does}, and the watchman writes the name of the vessel, its length and its home port into the large book that lies on the table of the small office near the bridge, where the keys of the pumps and the lamps for the towpath hang on the wall behind the door.\n`
      const from = yield* library({ "a.md": rule(one), "b.md": rule(other) })
      const { kept } = yield* from.retrieve("What holds for who arrives at the upper basin after sunset?")
      assert.lengthOf(kept, 2)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("recalls a different text behind any number of duplicates", () =>
    Effect.gen(function* () {
      const rule = (does: string) =>
        `# Rules\n\nWhoever arrives at the upper basin has to ${does} the valve at once, and the watchman writes the name of the vessel, its length and its home port into the large book that lies on the table of the small office near the bridge, where the keys of the pumps and the lamps for the towpath hang on the wall behind the door.\n`
      const copies = Array.from({ length: 30 }, (_, i) => [`${i}.md`, rule("open")])
      const from = yield* library({
        ...Object.fromEntries(copies),
        "new.md": rule("close"),
        "other.md": "# Basin\n\nThe upper basin is deep, and those who arrive wait at its valve.\n"
      })
      const found = yield* from.retrieve("What has to be done with the valve at the upper basin?")
      assert.includeMembers(pathsOf(found), ["new.md", "other.md"])
      const open = found.kept.find(
        ({ document }) => document.path !== "new.md" && document.path !== "other.md"
      )
      assert.lengthOf(open?.alsoAt ?? [], 29)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("keeps other answers beside a text with many duplicates", () =>
    Effect.gen(function* () {
      const notice =
        "All skippers must wear a life jacket at the waiting quay, day and night, from the moment they leave the cabin until the boat is tied up again; see the rules of the harbour, which hang beside the office of the warden, for the life jacket at the quay."
      const minutes = Array.from({ length: 150 }, (_, i) => [
        `minutes/${i}.md`,
        `# Minutes\n\n## Notice\n\n${i % 2 === 0 ? notice : notice.replace("hang beside", "hangs beside")}\n`
      ])
      const from = yield* library({
        ...Object.fromEntries(minutes),
        "rules.md":
          "# Harbour\n\n## Equipment\n\nA life jacket is required for everybody below twelve; the warden collects fines.\n",
        "faq.md":
          "# Questions\n\n## Safety\n\nWho forgets the life jacket may borrow one at the lock office for free.\n"
      })
      const question = "Must I wear a life jacket at the waiting quay?"
      const { kept, trace } = yield* from.retrieve(question)
      const paths = kept.map(({ document }) => document.path)
      assert.includeMembers(paths, ["rules.md", "faq.md"])
      assert.lengthOf(kept, 3)
      const copied = kept.find(({ document }) => document.path.startsWith("minutes"))
      assert.lengthOf(copied?.alsoAt ?? [], ALSO_AT)
      assert.isAtMost(trace.candidates, CANDIDATES)
      // `why` names the passage of which a dropped duplicate is a copy.
      const ids = (yield* from.documents).map(({ id }) => id)
      const said = yield* Effect.forEach(ids.slice(0, 20), (id) => from.why(id, question))
      const left = said
        .flatMap(({ passages }) => passages)
        .filter(({ places }) => places["rerank"] === undefined)
      assert.isNotEmpty(left)
      for (const { outcome, sentence } of left) {
        assert.strictEqual(outcome, "same")
        assert.match(sentence, /^Not reranked: \S+ has the same text, or nearly the same\./)
      }
      // Also with a recall below the number of duplicates, and with a neural reranker.
      const few = yield* from.retrieve(question, { recall: 4, candidates: 4 })
      assert.includeMembers(pathsOf(few), ["rules.md", "faq.md"])
      const unlike = yield* from.retrieve(question, { diversity: 0.5 })
      assert.includeMembers(pathsOf(unlike), ["rules.md", "faq.md"])
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})

it("100 passages are compared in less time than they are read", () => {
  const compare = compareTexts("When is the gate open?")
  const sentence = (n: number) =>
    `The w${3 * n} w${3 * n + 1} w${3 * n + 2} of gate ${n} opens at ${n % 24} and its keeper says that it is open.`
  const passages = Array.from({ length: 100 }, (_, i): StoredPassage => {
    const text = Array.from({ length: 16 }, (_, n) => sentence(16 * i + n)).join(" ")
    const document = { id: "d", path: "a.md", title: "Gates", format: "markdown" }
    const place = { start: 0, end: text.length, headings: ["Gates"], lines: [] }
    return { id: `d#${i}`, document, ordinal: i, text, ...place }
  })
  const used = (run: () => void) => {
    const started = process.cpuUsage()
    run()
    const { system, user } = process.cpuUsage(started)
    return user + system
  }
  const first = passages[0]!
  const read = used(() => passages.forEach((passage) => compare.alike(passage, first)))
  let alike = 0
  const compared = used(() => {
    for (const [i, passage] of passages.entries())
      for (let j = 0; j < i; j++) if (compare.alike(passages[j]!, passage)) alike++
  })
  assert.strictEqual(alike, 0)
  assert.isBelow(compared, 1.5 * read)
})

/** Follow-ups: the test by their words, the subject that is carried, and a chat model over a real server. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { apiKey, GatewayRewriter, QuestionRewriter } from "@sluice/core"
import { carrySubject, dependenceOf, dependsOnHistory, isFollowUp } from "@sluice/core/text"
import { GatewayClient } from "@sluice/core/client"
import { Effect, Layer } from "effect"
import { type Behaviour, delta, events, LoopbackGateway } from "./LoopbackGateway.ts"

interface Dialogue {
  readonly turns: ReadonlyArray<{ readonly question: string; readonly standalone?: string }>
}

const linesOf = <A>(file: string): ReadonlyArray<A> =>
  readFileSync(join(import.meta.dirname, "../qa", file), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

describe("dependsOnHistory", () => {
  it.each([
    "How high is it?",
    "And in winter?",
    "What about motorboats?",
    "Why?",
    "On Sundays?",
    "How many members does its crew have?",
    "Wie hoch ist es?",
    "Und im Winter?",
    "Wer hat sie gebaut?",
    "Warum?",
    "Quelle est sa hauteur ?",
    "Et en hiver ?",
    "Combien coûte-t-elle ?",
    "¿Y en invierno?",
    "¿Cuál es su altura?",
    "¿Por qué?",
    "它有多高？",
    "那冬天呢？",
    "什么时候建成的？",
    "死因是什么？"
  ])("%s", (question) => assert.isTrue(dependsOnHistory(question)))

  it.each([
    "How long does it take to fill the chamber?",
    "How does Raft elect its leader?",
    "Does the lock close when it rains?",
    "Is it going to snow in Oslo this week?",
    "What is the weather like this week?",
    "What is Bigtable?",
    "How long is the weir?",
    "opening hours winter",
    "Wie hoch ist das Wehr?",
    "Was passiert, wenn es regnet?",
    "Quelle est la hauteur du barrage ?",
    "Est-ce qu'il faut payer pour le passage ?",
    "¿Cuál es la altura de la presa?",
    "¿Hay tarifas para canoas?",
    "为什么天空是蓝的？",
    "谁发明了电灯？",
    "马其顿即将离任的总统是谁？"
  ])("not: %s", (question) => assert.isFalse(dependsOnHistory(question)))

  it("recognises most follow-ups of the dialogues, and leaves whole questions alone", () => {
    const turns = linesOf<Dialogue>("dialogues.jsonl").flatMap((dialogue) => dialogue.turns)
    const [followUps, whole] = [true, false].map((isFollowUp) =>
      turns.filter(({ standalone }) => (standalone !== undefined) === isFollowUp)
    )
    const recognised = followUps?.filter(({ question }) => dependsOnHistory(question)) ?? []
    assert.isAtLeast(recognised.length / (followUps?.length ?? 0), 0.85)
    const others = linesOf<{ readonly question: string }>("questions.jsonl")
    const wrong = [...(whole ?? []), ...others].filter(({ question }) => dependsOnHistory(question))
    assert.deepStrictEqual(wrong, [])
  })
})

describe("isFollowUp", () => {
  const english = [{ question: "How wide is the weir?", answer: "6 m" }]
  const chinese = [{ question: "知道恋恋笔记本这部电影吗？", answer: "知道呀，是一部爱情片。" }]

  it.each([
    ["That’s a shame, how could it break?", english],
    ["Wer hat sie gebaut?", english],
    ["知道是哪年上映的吗？", chinese],
    ["那关于主演你有了解的吗？", chinese],
    ["你知道他多大吗？", chinese]
  ])("%s", (question, history) => {
    assert.isTrue(isFollowUp(question, history))
    assert.isFalse(isFollowUp(question, []))
  })

  it.each([
    ["Okay. How does the use of rhyme in Biblical poetry compare to its use in Islamic poetry?", english],
    ["What else should I consider when I moor a motorboat at the visitors’ quay?", english],
    ["Wie hoch ist das Wehr?", english],
    ["恋恋笔记本是哪年上映的呀？", chinese],
    ["玉山箭竹的原产地在哪里？", chinese]
  ])("not: %s", (question, history) => assert.isFalse(isFollowUp(question, history)))

  it("takes no whole question of the dialogues that are not kept apart for a follow-up, and few follow-ups for complete", () => {
    const dialogues = linesOf<Dialogue & { readonly heldOut: boolean }>("dialogues.jsonl")
    const turns = dialogues
      .filter(({ heldOut }) => !heldOut)
      .flatMap(({ turns }) => turns.map((turn, i) => ({ ...turn, history: turns.slice(0, i) })))
    const results = turns.map(({ history, question, standalone }) => ({
      dependence: dependenceOf(question, history),
      isFollowUp: standalone !== undefined
    }))
    const count = (dependence: string, isFollowUp: boolean) =>
      results.filter((one) => one.dependence === dependence && one.isFollowUp === isFollowUp).length
    const followUps = results.filter(({ isFollowUp }) => isFollowUp).length
    assert.strictEqual(count("follow-up", false), 0)
    assert.isAtMost(count("complete", true) / followUps, 0.02)
    assert.isAtLeast(count("follow-up", true) / followUps, 0.6)
  })
})

describe("dependenceOf", () => {
  const history = [{ question: "What are the alternatives to surgery for stage 1 lobular cancer?" }]

  it.each([
    ["How long does it last?", "follow-up"],
    ["Does freezing work?", "unclear"],
    ["Wie hoch ist das Wehr?", "unclear"],
    ["Wie hoch ist es?", "follow-up"],
    ["How do the hydrogen engines of Falcon Heavy and Starship compare in thrust and in cost?", "complete"]
  ])("%s: %s", (question, dependence) => {
    assert.strictEqual(dependenceOf(question, history), dependence)
    assert.strictEqual(dependenceOf(question, []), "complete")
  })
})

describe("carrySubject", () => {
  it.each([
    ["Who maintains the weather station?", "How high is it?", "How high is the weather station?"],
    ["How does Raft elect a leader?", "And how does it compact logs?", "How does Raft compact logs?"],
    ["Who is responsible for the pumps?", "How often are they greased?", "How often are the pumps greased?"],
    ["Where is the upper gauge?", "What about the radar sensor?", "Where is the radar sensor?"],
    ["How long may a boat moor in summer?", "And in winter?", "How long may a boat moor in winter?"],
    [
      "How long does it take to fill the chamber?",
      "And to empty it?",
      "How long does it take to empty the chamber?"
    ],
    ["Wie hoch ist das Wehr?", "Wann wurde es gebaut?", "Wann wurde es gebaut (das Wehr)?"],
    ["Wer hat das Wehr gebaut?", "Und wann?", "Wer hat das Wehr gebaut, wann?"],
    ["Quelle est la hauteur du barrage ?", "Et sa longueur ?", "Quelle est sa longueur ?"],
    ["知道恋恋笔记本这部电影吗？", "是哪年上映的呀？", "恋恋笔记本是哪年上映的呀？"],
    ["听说过凯特·温斯莱特这个人吗？", "她多大？", "凯特·温斯莱特多大？"],
    ["松鸦属于什么科目？", "它分布在哪里？", "松鸦分布在哪里？"],
    ["《战栗游戏》的作者是谁？", "主要讲什么？", "《战栗游戏》主要讲什么？"],
    ["访客泊位每晚收费多少？", "10米以上的呢？", "访客泊位每晚收费多少，10米以上的呢？"]
  ])("%s %s", (before, question, standalone) =>
    assert.strictEqual(carrySubject(question, [{ question: before }]), standalone)
  )

  it("takes a person from the answer", () => {
    const turn = { question: "Who measured the flow?", answer: "Measured by Mei Lindqvist in 2024 [1]." }
    assert.strictEqual(carrySubject("When does she work?", [turn]), "When does Mei Lindqvist work?")
  })

  it("follows the subject through turns that do not name it", () => {
    const turns = ["How wide is the chamber?", "How long is it?"].map((question) => ({ question }))
    assert.strictEqual(carrySubject("And how deep is it?", turns), "How deep is the chamber?")
  })
})

it("a question of one long word takes no longer than others", () => {
  const started = process.cpuUsage()
  for (let i = 0; i < 20; i++) isFollowUp("A".repeat(600), [{ question: "How wide is the weir?" }])
  // With a pattern that is not linear they take 3 s.
  assert.isBelow(process.cpuUsage(started).user, 2e6)
})

describe("GatewayRewriter", () => {
  const Rewriter = Layer.unwrap(
    Effect.map(LoopbackGateway, ({ url: baseUrl }) =>
      Layer.provide(
        GatewayRewriter.layer({ model: "c" }),
        GatewayClient.layer({ baseUrl, apiKey: apiKey("k") })
      )
    )
  ).pipe(Layer.provideMerge(LoopbackGateway.layer))
  const rewrite = QuestionRewriter.use((rewriter) =>
    rewriter.rewrite("And how long is it?", [{ question: "How wide is the weir?", answer: "6 m [1]" }])
  )

  const says =
    (text: string): Behaviour =>
    (_, response) =>
      events(response, [delta(text), { choices: [{ delta: {}, finish_reason: "stop" }] }, "[DONE]"])

  it.effect.each([
    '{"question":"How long is the weir?"}',
    '<think>It is the weir.</think>\n```json\n{"question": "How long is the weir?"}\n```',
    "How long is the weir?",
    'Standalone question: "How long is the weir?"',
    "**Standalone question:** How long is the weir?",
    '<thought>{"it":"the weir"}</thought>{"question":"How long is the weir?"}',
    'Sure:\n\n"How long is the weir?"\n\nTell me if it is not.',
    '{"standalone_question":"How long is the weir?"}',
    '[{"question":"How long is the weir?"}]'
  ])("reads %s", (text) =>
    Effect.gen(function* () {
      const { behave, seen } = yield* LoopbackGateway
      behave(says(text))
      assert.strictEqual((yield* rewrite).question, "How long is the weir?")
      assert.strictEqual(seen.length, 1)
      assert.include(JSON.stringify(seen[0]?.body.messages), "6 m [1]")
    }).pipe(Effect.provide(Rewriter))
  )

  const SQL = "SELECT sum(crew) FROM boats_csv"
  it.effect.each([
    [SQL, SQL],
    [`Here it is:\n\`\`\`\n${SQL}\n\`\`\`\nIt sums.`, SQL],
    [`${SQL}\n\nThis sums the crew.`, SQL],
    [JSON.stringify({ query: SQL }), SQL],
    [JSON.stringify({ sql: `\`\`\`sql\n${SQL}\n\`\`\`` }), SQL],
    [
      JSON.stringify({ sql: `WITH a AS (${SQL})\n\nSELECT * FROM a` }),
      `WITH a AS (${SQL})\n\nSELECT * FROM a`
    ],
    ['{"sql":null}', undefined],
    ["null", undefined]
  ] as const)("reads the SQL of %s", ([text, sql]) =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      behave(says(text))
      const { toSql } = yield* QuestionRewriter
      assert.strictEqual((yield* toSql!("How many crew?", [])).sql, sql)
    }).pipe(Effect.provide(Rewriter))
  )

  it.effect("reads a response of many quotes in a time that its length allows", () =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      behave(says(JSON.stringify({ question: `a${"'".repeat(200_000)}b` })))
      const started = process.cpuUsage()
      assert.strictEqual((yield* Effect.flip(rewrite)).reason._tag, "InvalidResponse")
      assert.isBelow(process.cpuUsage(started).user, 3e6)
    }).pipe(Effect.provide(Rewriter))
  )

  it.effect.each(["", "{}", "I cannot know.\nPlease say more."])("fails on %j", (text) =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      behave(says(text))
      assert.strictEqual((yield* Effect.flip(rewrite)).reason._tag, "InvalidResponse")
    }).pipe(Effect.provide(Rewriter))
  )
})

/**
 * Writes `test/qa/public-dialogues.jsonl` and `test/qa/public-passages.jsonl.br`: dialogues of people, in English and Chinese,
 * with each follow-up rewritten so that it stands alone, and the passages that answer them.
 *
 * ```sh
 * node --conditions=@sluice/source scripts/write-public-dialogues.ts --data DIR [--examples FILE]
 * ```
 *
 * DIR has the topics of TREC CAsT 2021 and 2022 (`cast-…json`, MIT) and the dialogues of KdConv (`kdconv-data-…json`,
 * Apache-2.0). The licences are in `test/qa/public-licenses.txt`. FILE gets more dialogues for `learn-follow-ups.ts`: of KdConv,
 * of CAsT 2019 and 2020 (MIT), and of CANARD (dev, CC BY-SA 4.0), from the same DIR.
 *
 * - CAsT: each topic is cut into dialogues of two to five turns. People rewrote the questions. One that begins in the middle of a
 *   topic begins with the rewritten question. A turn is measured if its passage has a word of the rewritten question.
 * - KdConv: a question and the next message are a turn if that message is labelled with facts of one entity. The rewritten form
 *   has the name of the entity in place of the pronoun, or before what was left out. The entity is named in the turns before.
 */
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { brotliCompressSync } from "node:zlib"
import { flag } from "./flags.ts"
import { toJsonLines } from "./jsonLines.ts"

/** A question, and its form that stands alone, if that differs. `passage` answers it; without one, it is not measured. */
interface Turn {
  readonly question: string
  readonly standalone?: string
  /** Absent if it is the passage. */
  readonly answer?: string
  readonly passage?: string
}

interface Dialogue {
  readonly id: string
  readonly language: "en" | "zh"
  /** Kept apart from development. All dialogues of a topic are on one side. */
  readonly heldOut: boolean
  readonly turns: ReadonlyArray<Turn>
}

/** Characters of an answer in the history. A library shows a model 600. */
const ANSWER = 600

/** Turns of a dialogue. */
const TURNS = { least: 2, most: 5 } as const

/** Dialogues of each domain of KdConv. */
const OF_DOMAIN = 40

/** Entities of each domain of KdConv that answer nothing here. */
const OTHER_ENTITIES = 80

/** Characters of a fact about those. */
const OTHER_FACT = 300

const data = flag("--data")
const target = join(import.meta.dirname, "../test/qa")

const read = <A>(name: string): A => JSON.parse(readFileSync(join(data, name), "utf8")) as A

const hash = (text: string): number =>
  Number.parseInt(createHash("sha256").update(text).digest("hex").slice(0, 8), 16)
const byHash = (a: string, b: string): number => hash(a) - hash(b)
const isHeldOut = (topic: string): boolean => hash(`apart ${topic}`) % 3 === 0

const passages = new Map<string, string>()

/** Dialogues for learning. Of KdConv, all that are not kept apart. */
const examples: Array<{ readonly source: string; readonly turns: ReadonlyArray<Turn> }> = []

/** Words of four letters or more, without their endings. */
const stems = (text: string): ReadonlySet<string> =>
  new Set((text.toLowerCase().match(/\p{L}{4,}/gu) ?? []).map((word) => word.slice(0, 5)))

const clean = (text: string): string =>
  text.replaceAll("&amp;", "&").replaceAll("&gt;", ">").replace(/\s+/g, " ").trim()

interface CastTurn {
  readonly number: number | string
  readonly raw_utterance?: string
  readonly utterance?: string
  readonly manual_rewritten_utterance: string
  readonly passage?: string
  readonly response?: string
  readonly provenance?: ReadonlyArray<string>
}

/** Where dialogues begin: at questions that people rewrote, so that the rewritten form is known to stand alone. */
const beginnings = (all: ReadonlyArray<CastTurn>, from: number): ReadonlyArray<number> => {
  const begins: Array<number> = []
  for (let at = from; at <= all.length - TURNS.least; at++) {
    const begin = begins.at(-1)
    const size = begin === undefined ? TURNS.most : at - begin
    if (size < 3 || (size < TURNS.most && all.length - at < 3)) continue
    if (at === 0 || isRewritten(all[at]!)) begins.push(at)
  }
  return begins
}

const isRewritten = (turn: CastTurn): boolean =>
  clean(turn.manual_rewritten_utterance) !== clean(turn.raw_utterance ?? turn.utterance ?? "")

const castDialogues = (
  year: string,
  topics: ReadonlyArray<{ readonly number: number; readonly turn: ReadonlyArray<CastTurn> }>
): ReadonlyArray<Dialogue> => {
  const used = new Set<string>()
  return topics.flatMap(({ number, turn: all }, path): ReadonlyArray<Dialogue> => {
    // The paths of a topic of 2022 share their first turns.
    const fresh = all.filter((turn) => !used.has(`${number} ${turn.number}`))
    for (const turn of fresh) used.add(`${number} ${turn.number}`)
    const begins = beginnings(all, all.length - fresh.length)
    return begins.map((at, i): Dialogue => {
      const turns = all
        .slice(at, Math.min(begins[i + 1] ?? all.length, at + TURNS.most))
        .map((turn, i): Turn => {
          const id = `cast${year}-${number}-${turn.number}`
          const answer = clean(turn.passage ?? turn.response ?? "")
          const rewritten = clean(turn.manual_rewritten_utterance)
          const question = i === 0 ? rewritten : clean(turn.raw_utterance ?? turn.utterance ?? "")
          const isPassage = turn.provenance?.length !== 0 && answer.length > 150
          if (isPassage) passages.set(id, answer)
          const isAnswer = isPassage && !stems(answer).isDisjointFrom(stems(rewritten))
          return {
            question,
            ...(question !== rewritten && { standalone: rewritten }),
            ...(isAnswer ? { passage: id } : { answer: answer.slice(0, ANSWER) })
          }
        })
      const id = `cast${year}-${number}-${path}-${at}`
      return { id, language: "en", heldOut: isHeldOut(`cast${year}-${number}`), turns }
    })
  })
}

interface Fact {
  readonly name: string
  readonly attrname: string
  readonly attrvalue: string
}

interface Message {
  readonly message: string
  readonly attrs?: ReadonlyArray<Fact>
}

/** What people call an entity: without the explanation in parentheses. */
const shortName = (name: string): string =>
  name
    .replace(/（.*$|\(.*$/u, "")
    .replaceAll(/[《》]/g, "")
    .trim()

/** Words for a film, a song or a place; not for a person. */
const WORK = "电影|影片|片子|片|歌曲|首歌|歌|专辑|曲子|景点|地方|公园|寺庙|寺|博物馆|庙|王府"

const PRONOUN = new RegExp(
  `[它他她]们?(?!人)(?<!其[他她]们?)|这(?:个|部|首|张|座|支)?(?:${WORK}|乐队|组合|歌手|演员|导演|人)|[该此](?:片|剧|曲|景点|处|地)|` +
    "[这那](?:里|边|儿)(?!面)|这(?=(?:到底)?是|属于)|(?<![个边么的啥好些])景点(?=的|啥|什么|几|在)",
  "u"
)

const LEADING =
  /^(?:哦|噢|嗯|啊|哇|哈哈|好的|那么|那(?!里(?!面)|[边儿个些部首])|不过|对了|话说|请问|考考你|而且|但是|但|可是|这样啊|是吗|是啊|真的吗|原来如此|[，,。！!、~～\s])+/u

/** What the question is opened with: the name comes behind it. */
const OPENING =
  /^(?:(?:你们?|您)?(?:还|清楚)?(?:不?知道|知不知道|记得|了解|清楚|晓得)|(?:你|您)?(?:能|可以)(?:告诉我|说说|介绍一下|帮我查一下|给我介绍一下)|想问一下|问一下)/u

/** A question that begins with what is asked about its entity. */
const ATTRIBUTE =
  /^(?:门票|票价|地址|详细地址|电话|主演|导演|票房|周边|附近|开放时间|营业时间|游玩时间|代表作|作词|作曲|编剧|片长|类型|时长|歌手|原唱|发行|上映时间|毕业院校|生日|身高|体重|国籍|职业|星座|血型|口碑|评分|主要|具体(?!在|哪|是)|演唱者|风格|所属|专辑|剧情|制片人|成员)/u

/** The question with the name of its entity, or undefined if the form is not clear. */
const complete = (
  question: string,
  name: string,
  attribute: string,
  isPerson: boolean
): string | undefined => {
  const clauses = question.split(/(?<=[，,。！!；;])/u)
  const isAbout = /^[哦嗯啊那，,]*(?:对于?|关于)/u.test(clauses.at(-2) ?? "")
  const last = clauses
    .slice(isAbout ? -2 : -1)
    .join("")
    .replace(LEADING, "")
  const pronouns = [...last.matchAll(new RegExp(PRONOUN.source, "gu"))].map(([pronoun]) => pronoun)
  const [pronoun] = pronouns
  if (last.length < 4 || pronouns.length > 1) return undefined
  if (pronoun !== undefined) {
    if (isPerson && new RegExp(`${WORK}|处|地`, "u").test(pronoun)) return undefined
    return last.replace(pronoun, () => name)
  }
  const opening = OPENING.exec(last)?.[0] ?? ""
  const rest = last.slice(opening.length)
  // Something else is named, or the subject is the one who asks.
  if (rest.length < 3 || /^[我你吗]|《|[两那这]部|影片|景点|我记得/u.test(rest)) return undefined
  const isAttribute = rest.startsWith(attribute.slice(0, 2)) || ATTRIBUTE.test(rest)
  return `${opening}${name}${isAttribute ? "的" : ""}${rest}`
}

/** The facts of a message that the message before it does not have too: some labels are repeated in a whole dialogue. */
const newFacts = (message: Message, before: Message): ReadonlyArray<Fact> =>
  (message.attrs ?? []).filter(
    (fact) => !before.attrs?.some(({ attrname, name }) => name === fact.name && attrname === fact.attrname)
  )

/** The statements of a message, and its question: both people of these dialogues ask. */
const divide = (message: string): { readonly said: string; readonly asked: string } => {
  const text = clean(message)
  const [asked = ""] = /[^，,。！!；;？?~]+[？?]$/u.exec(text) ?? []
  return { said: text.slice(0, text.length - asked.length).replace(/[，,]$/u, "。"), asked }
}

/** Forms that nobody would ask, or whose label is wrong, found by reading all of them. A dialogue ends before them. */
const REFUSED: ReadonlySet<string> = new Set([
  "七武士是黑泽明导演的吧？",
  "你知道津岛惠子是什么吗？",
  "津岛惠子是什么名？",
  "真爱至上都有什么呀？",
  "真爱至上不知道是哪个呢？",
  "诺拉·琼斯是哪年？",
  "周杰伦周董现在多大呀？",
  "卡奇社Fly本名叫什么呢？",
  "华纳唱片很好记吧？",
  "等方大同岁数还没有多大吧？",
  "满那个专辑名叫什么？",
  "阿密特经张专辑的制作人是谁啊？",
  "曲婉婷是这样吗？",
  "颐和园就是没找到门票的信息？",
  "中华民族园家的门票是怎么收的呢？",
  "鸟巢的门票要多少钱你知道吗？",
  "中国科学技术馆的门票要多少钱？",
  "北京动物园的门票是不是很贵呀？"
])

const kdTurns = (
  messages: ReadonlyArray<Message>,
  idOf: (name: string) => string,
  isPerson: (name: string) => boolean
): ReadonlyArray<Turn> => {
  const turns: Array<Turn> = []
  for (let i = 0; i + 1 < messages.length && turns.length < TURNS.most; i++) {
    const [before, asked, answered] = [messages[i - 1], messages[i]!, messages[i + 1]!]
    const answersToo = before !== undefined && newFacts(asked, before).length > 0
    const question = answersToo ? divide(asked.message).asked : clean(asked.message)
    const facts = newFacts(answered, asked)
    const [fact] = facts
    const answer = divide(answered.message).said.slice(0, ANSWER)
    if (fact === undefined || facts.some(({ name }) => name !== fact.name)) continue
    if (!/[？?]$/u.test(question) || question.length > 60 || answer === "") continue
    const name = shortName(fact.name)
    const turn = { question, answer, passage: idOf(fact.name) }
    if (question.includes(name)) {
      turns.push(turn)
      continue
    }
    const said = turns.map(({ answer, question }) => `${question} ${answer}`).join("\n")
    const standalone = said.includes(name)
      ? complete(question, name, fact.attrname, isPerson(fact.name))
      : undefined
    if (standalone === undefined && turns.length === 0) continue
    if (standalone === undefined || REFUSED.has(standalone)) break
    turns.push({ ...turn, standalone })
  }
  return turns
}

const entityText = (name: string, facts: Iterable<Fact>, most = Number.POSITIVE_INFINITY): string => {
  const values = Map.groupBy(facts, ({ attrname }) => attrname)
  const lines = [...values].map(([attribute, all]) => {
    const text = [...new Set(all.map(({ attrvalue }) => clean(attrvalue)))].join("、").slice(0, most)
    return attribute === "Information" ? text : `${attribute}：${text}`
  })
  return `# ${name}\n\n${lines.join("\n\n")}`
}

const kdDialogues = (domain: string): ReadonlyArray<Dialogue> => {
  const dialogues = ["dev", "test"].flatMap((part) =>
    read<ReadonlyArray<{ readonly name: string; readonly messages: ReadonlyArray<Message> }>>(
      `kdconv-data-${domain}-${part}.json`
    ).map((dialogue, i) => ({ ...dialogue, id: `kd-${domain}-${part}-${i}` }))
  )
  const known =
    domain === "travel"
      ? Object.values(
          read<Record<string, ReadonlyArray<readonly [string, string, string]>>>(
            "kdconv-data-travel-kb_travel.json"
          )
        )
          .flat()
          .map(([name, attrname, attrvalue]): Fact => ({ name, attrname, attrvalue }))
      : dialogues.flatMap(({ messages }) => messages.flatMap(({ attrs = [] }) => attrs))
  const entities = Map.groupBy(known, ({ name }) => name)
  const names = [...entities.keys()]
  const idOf = (name: string) => `kd-${domain}-${names.indexOf(name)}`
  const isPerson = (name: string) =>
    entities.get(name)?.some(({ attrname }) => /^(?:出生|职业|国籍|毕业)/u.test(attrname)) ?? false
  const suited = dialogues
    .toSorted((a, b) => byHash(a.id, b.id))
    .map(({ id, messages, name }) => ({ id, topic: name, turns: kdTurns(messages, idOf, isPerson) }))
    .filter(({ turns }) => turns.length >= TURNS.least && turns[0]?.standalone === undefined)
    .filter(({ turns }) => turns.some(({ standalone }) => standalone !== undefined))
  const chosen = suited.slice(0, OF_DOMAIN)
  for (const { topic, turns } of suited)
    if (!isHeldOut(`kd ${topic}`)) examples.push({ source: "kdconv", turns })
  const answering = new Set(chosen.flatMap(({ turns }) => turns.map(({ passage }) => passage)))
  const others = names.filter((name) => !answering.has(idOf(name))).toSorted(byHash)
  for (const name of names.filter((name) => answering.has(idOf(name))))
    passages.set(idOf(name), entityText(name, entities.get(name)!))
  for (const name of others.slice(0, OTHER_ENTITIES))
    passages.set(idOf(name), entityText(name, entities.get(name)!, OTHER_FACT))
  return chosen.map(({ id, topic, turns }) => ({
    id,
    language: "zh",
    heldOut: isHeldOut(`kd ${topic}`),
    turns
  }))
}

const dialogues = [
  ...castDialogues("21", read("cast-2021_manual_evaluation_topics_v1.0.json")),
  ...castDialogues("22", read("cast-2022_evaluation_topics_flattened_duplicated_v1.0.json")),
  ...["film", "music", "travel"].flatMap(kdDialogues)
]

writeFileSync(join(target, "public-dialogues.jsonl"), toJsonLines(dialogues))
writeFileSync(
  join(target, "public-passages.jsonl.br"),
  brotliCompressSync(toJsonLines(passages.entries().map(([id, text]) => ({ id, text }))))
)

/** A question with its form that stands alone. */
const rewrittenTurn = (question: string, standalone: string, answer = ""): Turn => ({
  question: clean(question),
  ...(clean(question) !== clean(standalone) && { standalone: clean(standalone) }),
  answer
})

const castExamples = () => {
  const resolved = new Map(
    readFileSync(join(data, "cast-2019_evaluation_topics_annotated_resolved_v1.0.tsv"), "utf8")
      .split("\n")
      .map((line) => line.split("\t"))
      .map(([id = "", question = ""]) => [id, question])
  )
  const topics = (name: string) =>
    read<ReadonlyArray<{ readonly number: number; readonly turn: ReadonlyArray<CastTurn> }>>(name)
  const first = topics("cast-2019_evaluation_topics_v1.0.json").map(({ number, turn }) =>
    turn.map(({ number: of, raw_utterance = "" }) =>
      rewrittenTurn(raw_utterance, resolved.get(`${number}_${of}`) ?? raw_utterance)
    )
  )
  const second = topics("cast-2020_manual_evaluation_topics_v1.0.json").map(({ turn }) =>
    turn.map(({ manual_rewritten_utterance, raw_utterance = "" }) =>
      rewrittenTurn(raw_utterance, manual_rewritten_utterance)
    )
  )
  return [...first, ...second].map((turns) => ({ source: "cast", turns }))
}

interface CanardQuestion {
  readonly QuAC_dialog_id: string
  readonly Question: string
  readonly Rewrite: string
  /** The title of the article and of its section, then questions and answers. */
  readonly History: ReadonlyArray<string>
}

/** The first question of a dialogue depends on its article: it is taken as people rewrote it. */
const canardExamples = () =>
  [
    ...Map.groupBy(
      read<ReadonlyArray<CanardQuestion>>("canard-dev.json"),
      ({ QuAC_dialog_id }) => QuAC_dialog_id
    ).values()
  ].map((questions) => ({
    source: "canard",
    turns: questions.map(({ Question, Rewrite }, i) =>
      rewrittenTurn(i === 0 ? Rewrite : Question, Rewrite, questions[i + 1]?.History.at(-1))
    )
  }))

const learning = flag("--examples")
if (learning !== "") {
  writeFileSync(learning, toJsonLines([...examples, ...castExamples(), ...canardExamples()]))
}
console.log(dialogues.length, "dialogues,", passages.size, "passages")

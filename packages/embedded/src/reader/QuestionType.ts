/** What a question asks for, by the words that ask for it, in five languages. */
import { map } from "effect/Record"

/** Latin letters and digits, by their ranges: with `\p{Script=Latin}`, the first two questions took 60 ms each to compile. */
const LETTER = "[\\dA-Za-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u024f\\u1e00-\\u1eff]"
const BOUNDARY = `(?:(?<=${LETTER})(?!${LETTER})|(?<!${LETTER})(?=${LETTER}))`

/** Patterns whose `\b` knows Latin letters beyond ASCII. Chinese has no boundaries of words. */
export const unicodeWords = <Name extends string>(patterns: Readonly<Record<Name, RegExp>>) =>
  map(patterns, ({ flags, source }: RegExp) => new RegExp(source.replaceAll("\\b", BOUNDARY), flags))

/** The first that matches holds. */
const PATTERNS = unicodeWords({
  cost: /\bhow much\b(?=.*\b(?:cost|pay|charge|earn))|\bwhat (?:\S+ ){0,6}?(?:price|cost|fee|fare|salary|rent|budget)s?\b|\b(?:was|wie ?viel).{0,30}\bkoste|\bpreis|\bgebühr|\bgehalt\b|\bcoût|(?<!grand )\bprix\b|\btarif|\bmontant\b|\bquels? (?:est |était )?(?:le |les )?(?:salaire|loyer|frais|budget)s?\b|\bcuesta|\bprecio|\bsueldo|\bcosto\b|\bmulta\b|多少钱|价格|费用|票价|收费/iu,
  often:
    /\bhow (?:often|frequently)\b|\bhow many times (?:an?|per|each|every)\b|\bwie (?:oft|häufig)\b|\bà quelle fréquence|\bcombien de fois (?:par|chaque)\b|\bcon qué frecuencia|\bcuántas veces (?:al?|por|cada)\b|\bcada cuánto|多久.{0,4}一次|几次/iu,
  duration:
    /\bhow (?:long|old|early|soon)\b|\bhow (?:many|much) (?:years?|months?|weeks?|days?|hours?|minutes?|seconds?|time)\b|\bwie (?:lang|alt|früh)e?\b|\bwie viele? (?:jahre|monate|wochen|tage|stunden|minuten|sekunden|zeit)\b|\bcombien (?:de |d['’])(?:temps|secondes|minutes|heures|jours|semaines|mois|ans|années)\b|\bquel (?:âge|délai)|\bquelle durée|\bcuánto tiempo|\bqué plazo|\bcuánt[oa]s (?:segundos|minutos|horas|días|semanas|meses|años)|多久|多长时间|[多几]少?(?:天|年|个?月|个?小时|分钟)/iu,
  count:
    /\bhow (?:many|much|far|high|tall|deep|big|large|fast|wide|heavy|hot|cold|warm|strong)\b|\bwhat (?:\S+ ){0,4}?(?:number|percentage|share|rate|size|speed|temperature|length|width|height|depth|weight|maximum|minimum|average|total|score)\b|\bwie ?viele?n?\b|\bwie (?:hoch|groß|schnell|schwer|weit|tief|breit|warm|stark)\b|\bcombien\b|\bquel(?:le)?s? (?:est |était )?(?:la |le |l['’])?(?:nombre|pourcentage|taille|température|vitesse|hauteur|longueur|poids|superficie)|\bcuánt[oa]s?\b|\bqué (?:porcentaje|cantidad|tamaño|temperatura|altura)|多少|几[个名人次种座条本岁级元米度分层]?|多[高大深远重快宽长]|百分之几/iu,
  when: /\bwhen\b|\b(?:what|which) (?:year|date|day|time|month|century|decade)\b|\bwann\b|\b(?:in|seit) welche[mr] (?:jahr|monat|tag)|\bquand\b|\bquelles? (?:année|date|heure|époque)|\bquel (?:jour|mois|siècle)|\bcuándo\b|\bqué (?:año|fecha|mes|día)|何时|什么时候|什么时间|哪一?[年天日]|几[点月号日]/iu,
  who: /\bwho(?:m|se)?\b|\bwe[rmn]\b|\bwessen\b|\bqui\b(?! est-ce que)|\bquién|谁|哪位|何人|什么人/iu,
  where:
    /\bwhere\b|\b(?:what|which) (?:place|city|country|town|room|street|state|region|river)\b|\bwo(?:her|hin)?\b|\bin welche[mrn] (?:stadt|land|ort)|\boù\b|\bdans quel(?:le)? (?:ville|pays|région)|\bdónde\b|\bqué (?:ciudad|país|lugar)|哪里|哪儿|何处|何地|什么地方|哪个?(?:国|省|市|县|城|地)/iu,
  why: /\bwhy\b|\bwhat (?:is the )?(?:reason|cause)s?\b|\bwarum\b|\bwieso\b|\bweshalb\b|\bpourquoi\b|\bpor qué\b|为什么|为何|原因/iu,
  definition:
    /^\W*what (?:is|are|was) (?:(?:an?|the) )?\S+(?: \S+){0,2} ?\??$|\bwhat does .{2,40} (?:mean|stand for)|^\W*define\b|\bwas (?:ist|sind|bedeutet)\b|\bqu['’]est-ce qu|\bque signifie|\bqué (?:es|son|significa)\b|什么是|是什么(?:意思)?[？?]?$/iu,
  whether:
    /^\W*(?:is|are|was(?= (?:an?|he|it|she|th\w{1,3})\b)|were|do|does|did|has|have|had|can|could|may|might|must|should|will|would|ist|sind|war|hat|haben|kann|können|darf|dürfen|muss|müssen|soll|gibt|wird|est-ce|peut|puis|faut|doit|es|son|puedo|puede|tengo|tiene|hay|debo|debe)\b|(?<!(?:\b(?:quel(?:le)?s?|quoi|comment)\b|^\W*(?:que\b|qu['’])).{0,300})-(?:t-)?(?:ils?|elles?|on|je|(?<!rendez-)vous)\b|吗|是否|(\p{Script=Han})[不没]\1/iu,
  how: /\bhow\b|\bwie\b|^\W*comment\b|\bcómo\b|怎么|怎样|如何/iu,
  which:
    /\b(?:what|which|quoi|qu[eé])\b|\bwelche[mnrs]?\b|\bwas\b|\bwo(?:mit|für|durch|rin|rauf|zu|von)\b|\bquel(?:le)?s?\b|\bcuál|什么|哪|何/iu
})

export type QuestionType = keyof typeof PATTERNS | "other"

/** What a question asks for, and where the words after that begin. */
export const questionTypeOf = (question: string): { readonly type: QuestionType; readonly end: number } => {
  for (const [type, pattern] of Object.entries(PATTERNS)) {
    const found = pattern.exec(question)
    if (found !== null) return { type: type as QuestionType, end: found.index + found[0].length }
  }
  return { type: "other", end: 0 }
}

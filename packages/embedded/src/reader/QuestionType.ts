/** What a question asks for, by the words that ask for it. */
import type { QuestionLanguage } from "@sluice/core/text"
import { unicodeWords } from "./unicodeWords.ts"

export type QuestionType =
  | "cost"
  | "duration"
  | "often"
  | "count"
  | "when"
  | "who"
  | "where"
  | "why"
  | "definition"
  | "whether"
  | "how"
  | "which"
  | "other"

const EN = unicodeWords({
  cost: /\bhow much\b(?=.*\b(?:cost|pay|charge|earn))|\bwhat (?:\S+ ){0,6}?(?:price|cost|fee|fare|salary|rent|budget)s?\b/iu,
  often: /\bhow (?:often|frequently)\b/iu,
  duration:
    /\bhow (?:long|old|early|soon)\b|\bhow (?:many|much) (?:years?|months?|weeks?|days?|hours?|minutes?|time)\b/iu,
  count:
    /\bhow (?:many|much|far|high|tall|deep|big|large|fast|wide|heavy|hot|cold|warm|strong)\b|\bwhat (?:\S+ ){0,4}?(?:number|percentage|share|rate|size|speed|temperature|length|width|height|depth|weight|maximum|minimum|average|total|score)\b/iu,
  when: /\bwhen\b|\b(?:what|which) (?:year|date|day|time|month|century|decade)\b/iu,
  who: /\bwho(?:m|se)?\b/iu,
  where: /\bwhere\b|\b(?:what|which) (?:place|city|country|town|room|street|state|region|river)\b/iu,
  why: /\bwhy\b|\bwhat (?:is the )?(?:reason|cause)s?\b/iu,
  definition:
    /^\W*what (?:is|are|was) (?:(?:an?|the) )?\S+(?: \S+){0,2} ?\??$|\bwhat does .{2,40} (?:mean|stand for)|^\W*define\b/iu,
  whether: /^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|should|will|would)\b/iu,
  how: /\bhow\b/iu,
  which: /\b(?:what|which)\b/iu
})
const DE = unicodeWords({
  cost: /\b(?:was|wie ?viel).{0,30}\bkoste|\bpreis|\bgebühr|\bgehalt\b/iu,
  often: /\bwie oft\b|\bwie häufig\b/iu,
  duration: /\bwie (?:lang|alt|früh)e?\b|\bwie viele? (?:jahre|monate|wochen|tage|stunden|minuten|zeit)\b/iu,
  count: /\bwie ?viele?n?\b|\bwie (?:hoch|groß|schnell|schwer|weit|tief|breit|warm|stark)\b/iu,
  when: /\bwann\b|\b(?:in|seit) welche[mr] (?:jahr|monat|tag)/iu,
  who: /\bwe[rmn]\b|\bwessen\b/iu,
  where: /\bwo(?:her|hin)?\b|\bin welche[mrn] (?:stadt|land|ort)/iu,
  why: /\bwarum\b|\bwieso\b|\bweshalb\b/iu,
  definition: /\bwas (?:ist|sind|bedeutet)\b/iu,
  whether: /^\W*(?:ist|sind|war|hat|haben|kann|können|darf|dürfen|muss|müssen|soll|gibt|wird)\b/iu,
  how: /\bwie\b/iu,
  which: /\bwelche[mnrs]?\b|\bwas\b|\bwo(?:mit|für|durch|rin|rauf|zu|von)\b/iu
})
const FR = unicodeWords({
  cost: /\bcoûte|\bprix\b|\btarif|\bmontant\b/iu,
  often: /\bà quelle fréquence/iu,
  duration: /\bcombien de (?:temps|jours|mois|ans|années|heures)\b|\bquel âge|\bquelle durée/iu,
  count:
    /\bcombien\b|\bquel(?:le)?s? (?:est |était )?(?:la |le |l['’])?(?:nombre|pourcentage|taille|température|vitesse|hauteur|longueur|poids|superficie)/iu,
  when: /\bquand\b|\bquelles? (?:année|date|heure|époque)|\bquel (?:jour|mois|siècle)/iu,
  who: /\bqui\b(?! est-ce que)/iu,
  where: /\boù\b|\bdans quel(?:le)? (?:ville|pays|région)/iu,
  why: /\bpourquoi\b/iu,
  definition: /\bqu['’]est-ce qu|\bque signifie/iu,
  whether: /^\W*(?:est-ce|peut|puis|faut|doit)|-(?:t-)?(?:il|elle|on|je|ils)\b/iu,
  how: /\bcomment\b/iu,
  which: /\bquel(?:le)?s?\b|\bque\b|\bquoi\b/iu
})
const ES = unicodeWords({
  cost: /\bcuesta|\bprecio|\bsueldo|\bcosto\b|\bmulta\b/iu,
  often: /\bcon qué frecuencia|\bcada cuánto/iu,
  duration: /\bcuánto tiempo|\bqué plazo|\bcuántos (?:días|años|meses)/iu,
  count: /\bcuánt[oa]s?\b|\bqué (?:porcentaje|cantidad|tamaño|temperatura|altura)/iu,
  when: /\bcuándo\b|\bqué (?:año|fecha|mes|día)/iu,
  who: /\bquién/iu,
  where: /\bdónde\b|\bqué (?:ciudad|país|lugar)/iu,
  why: /\bpor qué\b/iu,
  definition: /\bqué (?:es|son|significa)\b/iu,
  whether: /^[¿\s]*(?:es|son|puedo|puede|tengo|tiene|hay|debo|debe)\b/iu,
  how: /\bcómo\b/iu,
  which: /\bqué\b|\bcuál/iu
})
const ZH: Readonly<Record<Exclude<QuestionType, "other">, RegExp>> = {
  cost: /多少钱|价格|费用|票价|收费/u,
  often: /多久.{0,4}一次|几次/u,
  duration: /多久|多长时间|[多几]少?(?:天|年|个?月|个?小时|分钟)/u,
  count: /多少|几[个名人次种座条本岁级元米度分层]?|多[高大深远重快宽长]|百分之几/u,
  when: /何时|什么时候|什么时间|哪一?[年天日]|几[点月号日]/u,
  who: /谁|哪位|何人|什么人/u,
  where: /哪里|哪儿|何处|何地|什么地方|哪个?(?:国|省|市|县|城|地)/u,
  why: /为什么|为何|原因/u,
  definition: /什么是|是什么(?:意思)?[？?]?$/u,
  whether: /吗|是否|(\p{Script=Han})[不没]\1/u,
  how: /怎么|怎样|如何/u,
  which: /什么|哪|何/u
}
const BY_LANGUAGE = { en: EN, de: DE, fr: FR, es: ES, zh: ZH }

/** What a question asks for, and where the words after that begin. */
export const questionTypeOf = (
  language: QuestionLanguage,
  question: string
): { readonly type: QuestionType; readonly end: number } => {
  for (const [type, pattern] of Object.entries(BY_LANGUAGE[language])) {
    const found = pattern.exec(question)
    if (found !== null) return { type: type as QuestionType, end: found.index + found[0].length }
  }
  return { type: "other", end: 0 }
}

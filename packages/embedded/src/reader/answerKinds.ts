/** Kinds of things that answer questions, and how they look in a sentence. */
import { type QuestionType, unicodeWords } from "./QuestionType.ts"

const MONTH =
  "January|February|March|April|May|June|July|August|September|October|November|December|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
const UNIT =
  "second|minute|hour|day|week|month|year|decade|centur|Sekunde|Minute|Stunde|Tag|Woche|Monat|Jahr|seconde|heure|jour|semaine|mois|an(?:née)?s?\\b|siècle|segundo|minuto|hora|día|semana|mes(?:es)?\\b|año|siglo"
const FEW =
  "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|billion|half|dozen|once|twice|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|hundert|tausend|deux|trois|quatre|cinq|sept|huit|neuf|dix|cent|mille|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|quince|cien|mil"

export const ANSWER_KINDS = unicodeWords({
  number: new RegExp(
    `\\d|\\b(?:${FEW})\\b|[零一二两三四五六七八九十百千万亿半]{1,12}\\s?(?:个|名|人|年|月|天|日|次|元|块|米|公里|小时|分钟|种|座|条|本|岁|级|度|秒|周|克|斤|公斤|吨|升|毫升|厘米|毫米|平方|倍|页|张|件|只|台|辆|层|间|瓶|杯|盒|箱|份|角|扇)|百分之`,
    "iu"
  ),
  year: /(?<![\d.,])(?:1[0-9]|20)\d\d(?![\d]|[.,]\d)|世纪|\bcentur|Jahrhundert|siècle|siglo/iu,
  date: new RegExp(`\\b(?:${MONTH})\\b|\\d\\s?[月日号]|\\b\\d{1,2}[./]\\d{1,2}[./]|\\d{4}-\\d\\d`, "u"),
  clock: new RegExp(
    `\\b\\d{1,2}[:.h]\\d\\d\\b|\\b(?:\\d{1,2}|${FEW})\\s?(?:am|pm|a\\.m|p\\.m|o'clock|Uhr|heures|horas|点)|\\b(?:noon|midnight)\\b|\\b(?:at|um|à|a las)\\s(?:${FEW})\\b`,
    "iu"
  ),
  often:
    /\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|\b(?:spring|summer|autumn|winter|(?:bi-?|semi-?)?(?:daily|weekly|monthly|yearly|annually)|once|twice|\d times|(?:every|each|per|jede[rnms]?|pro|chaque|par|cada|al)\s(?:\S{1,20}\s)?(?:second|minute|hour|day|night|week|month|year|morning|season|Sekunde|Minute|Stunde|Tag|Woche|Monat|Jahr|seconde|heure|jour|semaine|mois|an\b|segundo|hora|día|semana|mes|año)|täglich|wöchentlich|monatlich|jährlich|mal|fois|veces)\b|每|星期|周/iu,
  duration: new RegExp(
    `(?:\\d|\\b(?:an?|one|eine?|${FEW})\\b)[)\\s-]{0,3}(?:\\p{L}{1,20}[\\s-]{1,3})?(?:${UNIT})|[\\d一二两三四五六七八九十百半]\\s{0,3}(?:秒|分钟|小时|个小时|天|日|周|个月|年)`,
    "iu"
  ),
  relative:
    /\b(?:before|after|until|since|during|once|when|as soon as|bevor|nachdem|bis|seit|während|sobald|avant|après|jusqu|dès|lorsque|antes|después|hasta|desde|cuando)\b|之前|之后|以前|以后|直到/iu,
  money:
    /[$€£¥₹]|\b(?:USD|EUR|CHF|GBP|dollars?|euros?|pounds?|crowns?|cents?|free|gratis|kostenlos|gratuit\w*)\b|\d\s?元|免费|克朗/iu,
  person:
    /(?<=[\p{L}\p{N},;:] )\p{Lu}\p{Ll}+ (?:(?:de|van|von|der|la|Mc|O')\s?)?\p{Lu}\p{Ll}+|\b(?:Mr|Mrs|Ms|Dr|Herr|Frau|Mme|Sr|Sra)\b\.?\s\p{Lu}|[先女]士|先生|·/u,
  role: /\b(?:he|she|they|keeper|manager|team|office|staff|chief|president|director|officer|supervisor|owner|engineer|committee|minist\w+|department|agency|author|leader|member|company|everyone|anyone|nobody|employee)s?\b|(?<!\p{L})\p{L}{3,24}(?:er|in|innen)\b(?= (?:ist|sind|hat|haben|kann|können|muss|darf))|Behörde|Verantwortliche|équipe|directeur|ministre|personne|agente|[人者员长家师生氏]/u,
  place:
    /\b(?:in|at|on|near|behind|beside|under|above|between|from|inside|outside|north|south|east|west)\s+(?:the\s+)?\p{Lu}|\b(?:floor|room|building|street|corner|office)\b|\b(?:in|im|am|auf|bei|aus)\s+(?:der\s+|dem\s+)?\p{Lu}|\b(?:à|en|au|dans|sur|en el|en la)\s+(?:l[ae]\s+|l')?\p{Lu}|[在于位][^，。]{0,20}[里中上下内外旁边处省市县区国州岛村镇路街山河]/u,
  reason:
    /\b(?:because|since|so that|so as|due to|owing to|in order to|therefore|otherwise|reason|causes?|caused|as a result|weil|damit|deshalb|daher|aufgrund|wegen|um\b.{1,80}\bzu|car|parce que|afin|pour que|puisque|à cause|porque|debido|para que|a fin de|ya que)\b|因为|由于|因此|所以|为了|以便|导致|原因|以免|否则|会使|可能会/iu,
  defines:
    /^.{1,60}?\s(?:is|are|was|were|means|refers to|denotes|consists of)\s|^.{1,60}?(?:ist|sind|bezeichnet|bedeutet|stellt)\s|^.{1,60}?\s(?:est|sont|désigne|consiste|correspond)\s|^.{1,40}?\s(?:es|son)\s|^.{1,30}?(?:是|为|指|即)|^.{1,50}[:：–—]\s/u,
  negates:
    /\b(?:not|no|never|cannot|can't|don't|doesn't|won't|nobody|none|nicht|kein\w*|nie|pas|aucune?|jamais|ne|nunca|ningún|sin)\b|[不没无非禁勿]/iu,
  located:
    /\b(?:in|at|on|near|behind|beside|under|above|between|inside|outside|opposite|next to)\s(?:the|an?|its|their|your)\s\p{L}|\b(?:im|am|beim|zum|zur|neben|hinter|vor|über|unter|auf|in)\s(?:der|dem|den|die|das|einer|einem)?\s?\p{L}|\b(?:dans|sur|sous|chez|au|aux|à la|à l|en la|en el|junto)\b|[里中上下内外旁处边间]/iu,
  compares:
    /\b(?:most|least|highest|lowest|largest|smallest|longest|shortest|biggest|fastest|slowest|first|last|best|worst|wettest|driest|hottest|coldest|oldest|newest|more|less|fewer|maximum|minimum|meisten|wenigsten|\p{L}{3,12}ste[nmrs]?|le plus|la plus|les plus|le moins|más|menos|mayor|menor|mejor|peor)\b|最/iu,
  address: /@|https?:|www\.|\d[\d\s()+/-]{6,20}\d/u,
  asks: /[?？]["'”’*_)\]）」』\s]*$/u,
  leads: /[:：]["'”’*_)\]）」』\s]*$/u,
  ends: /[.!;。！；…][\p{Pe}\p{Pf}"'*_`\d[\],\s]*$/u
})

/** What a sentence or an entry defines: “A *lock* is a basin …”, “*Lock*: a basin …”. */
export const { defined: DEFINED } = unicodeWords({
  defined:
    /^.{1,60}?(?=\s(?:(?:is|was|are|were) (?:an?|the|any|all|one|those)|means|refers? to|denotes?|stands? for|consists? of|(?:ist|war|sind|waren) (?:ein\w*|der|die|das|jede\w*|alle|jene)|bezeichnet|bedeutet|(?:est|était) (?:une?|l[ae]|l['’]\p{L}+)|(?:sont|étaient) (?:les|des|ceux|celles)|désigne|signifie|consiste|correspond|(?:es|era) (?:una?|el|la)|(?:son|eran) (?:l[oa]s|un[oa]s|aquell[oa]s)|significa)\b|是|指|为|即|\s?[:：–—]\s.{20})/u
})

/** The kinds of which one answers. */
export const EXPECTED: Readonly<Partial<Record<QuestionType, ReadonlyArray<keyof typeof ANSWER_KINDS>>>> = {
  cost: ["money", "number"],
  often: ["often", "duration"],
  duration: ["duration", "clock"],
  count: ["number"],
  when: ["year", "date", "clock", "often", "relative"],
  who: ["person", "role"],
  where: ["place"],
  why: ["reason"]
}

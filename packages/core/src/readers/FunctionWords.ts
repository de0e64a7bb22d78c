/** The language of a question, and its function words. Indexes and models know English and Chinese ones as stop words. */

export type QuestionLanguage = "en" | "zh" | "de" | "fr" | "es"

const WORDS = {
  en: "the a an is are was were do does did can could may must should will would has have had what which who whom whose when where why how i my we our you your it its in on of to for from with by at and or not if there be",
  de: "der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren wird werden wurde wurden hat haben hatte hatten kann können konnte darf dürfen muss müssen soll sollen sollte will wollen möchte was wer wem wen wessen wie wo wann warum weshalb wieso woher wohin womit wofür wodurch welche welcher welches welchen welchem viel viele vielen wieviel ich mir mich mein meine meinen meiner du wir uns unser unsere sie ihr ihre ihren ihrem er es man sich in im ins an am auf aus bei beim für mit nach von vom zu zum zur über unter um durch gegen ohne bis seit vor als wenn ob dass damit denn nicht kein keine keinen auch noch nur schon sehr mehr es gibt gilt bitte etwas jemand so da dann dort hier dieser diese dieses diesen diesem jeder jede jedes lange oft",
  fr: "le la les l un une des du de d et ou mais est sont était étaient a ont avait avaient sera seront être avoir peut peuvent puis dois doit doivent faut veut veux fait que qu quoi qui quel quelle quels quelles quand où comment pourquoi combien lequel laquelle est-ce ce cet cette ces c j je me m moi mon ma mes nous notre nos vous votre vos il elle ils elles on y en se s son sa ses leur leurs au aux à dans sur sous par pour avec sans entre vers chez depuis pendant si ne n pas plus t-il t-elle t-on t été fut furent eu aura auront ayant serait pourra dont dès afin tout tous toute toutes même aussi très celui celle ceux celles",
  es: "el la los las lo un una unos unas y o u e pero es son era eran fue fueron será ser ha han había hay tiene tienen tengo puede pueden puedo debe deben debo hace hacen qué que quién quiénes quien cuál cuáles cuándo cuando dónde donde cómo como cuánto cuánta cuántos cuántas por para con sin sobre entre desde hasta de del al a en me mi mis yo tú te tu tus se su sus nos nuestro nuestra le les si no más este esta estos estas ese esa eso"
} as const

const listOf = (words: string): ReadonlySet<string> => new Set(words.normalize("NFC").split(" "))
const LISTS = {
  en: listOf(WORDS.en),
  de: listOf(WORDS.de),
  fr: listOf(WORDS.fr),
  es: listOf(WORDS.es)
}

const WORD = /\p{L}+/gu
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u

/** The language of a question, by its function words. English if there are none. */
export const questionLanguage = (question: string): QuestionLanguage => {
  if (CJK.test(question)) return "zh"
  const words = question.toLowerCase().match(WORD) ?? []
  const counts = (["en", "de", "fr", "es"] as const).map(
    (language) => [language, words.filter((word) => LISTS[language].has(word)).length] as const
  )
  return counts.reduce((best, next) => (next[1] > best[1] ? next : best))[0]
}

/**
 * A question without the function words of its language, if that is German, French or Spanish: nobody else knows them, and each
 * would count as a rare word. Never empty. With fewer than `least` of them its language is in doubt ("die casting"), and it stays.
 */
export const withoutFunctionWords = (question: string, least = 1): string => {
  const language = questionLanguage(question)
  if (language === "en" || language === "zh") return question
  let found = 0
  const rest = question.replace(WORD, (word) => {
    if (!LISTS[language].has(word.toLowerCase())) return word
    // “t” and “s” are the rest of “don't” and “George's”.
    if (word.length > 1) found++
    return " "
  })
  return found >= least && /[\p{L}\p{N}]/u.test(rest) ? rest : question
}

/** Function words by which a searched question's language is sure enough. */
const SURE_LANGUAGE = 2

/** What is searched of a question. */
export const searchedWords = (question: string): string => withoutFunctionWords(question, SURE_LANGUAGE)

/**
 * A generated Markdown corpus that resembles documentation: 40,000 words with Zipf frequencies, topics that share words,
 * headings, lists, tables, code. The same seed gives the same text.
 */
import { type Random, seeded } from "./Random.ts"

const list = (text: string) => text.split(",") as [string, ...Array<string>]
const onsets = list("b,br,c,ch,d,dr,f,fl,g,gr,h,k,l,m,n,p,pr")
const more = list("qu,r,s,sh,st,str,t,th,tr,v,w,z,")
const vowels = list("a,e,i,o,u,ai,ea,ou,io,ee")
const codas = list(",,,n,r,s,t,l,nd,ck,st,m,ng,x")
const endings = list(",,,ing,ed,er,ion,al,ity,able,ment,ly,s")
const glue = list(
  "the,of,and,to,in,a,is,that,for,it,as,with,on,be,by,this,are,or,from,at,which,an,not,has,have,can,will,when,into,than,its"
)

const VOCABULARY = 40_000
/** Words of a topic, and their share in its text. */
const TOPIC_WORDS = 120
const TOPIC_SHARE = 0.35
const GLUE_SHARE = 0.4

const word = (random: Random): string => {
  const syllables = random.pick([1, 1, 2, 2, 3])
  let made = ""
  for (let at = 0; at < syllables; at++) {
    made += random.pick(random.next() < 0.6 ? onsets : more) + random.pick(vowels) + random.pick(codas)
  }
  return made + random.pick(endings)
}

/** Samples a rank r with probability proportional to 1 / r, by inverting the integral. */
const zipf = (random: Random, size: number): number =>
  Math.floor(Math.exp(random.next() * Math.log(size + 1)) - 1)

export interface Corpus {
  /** The document's Markdown. Documents are about 20 passages of 700 to 1,100 characters. */
  readonly document: (index: number) => { readonly path: string; readonly text: string }
  /** A question with words of one document. */
  readonly question: (index: number) => string
}

/** Each document depends only on the seed and its index, so none is kept in memory. */
export const make = (seed: number): Corpus => {
  const random = seeded(seed)
  const vocabulary = Array.from({ length: VOCABULARY }, () => word(random))

  const writer = (index: number) => {
    const own = seeded(seed * 7919 + index * 104_729 + 1)
    const topic = Array.from(
      { length: TOPIC_WORDS },
      () => vocabulary[own.between(200, VOCABULARY - 1)] ?? "term"
    )
    const next = () => {
      const roll = own.next()
      if (roll < GLUE_SHARE) return own.pick(glue)
      if (roll < GLUE_SHARE + TOPIC_SHARE) return topic[zipf(own, TOPIC_WORDS)] ?? "term"
      return vocabulary[zipf(own, VOCABULARY)] ?? "term"
    }
    const words = (count: number) => Array.from({ length: count }, next).join(" ")
    const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
    const sentence = () => `${capital(words(own.between(8, 24)))}.`
    const paragraph = () => Array.from({ length: own.between(3, 7) }, sentence).join(" ")
    const heading = () =>
      capital(Array.from({ length: own.between(1, 4) }, () => topic[own.between(0, 30)]).join(" "))
    return { own, words, paragraph, heading, sentence }
  }

  const block = ({ own, paragraph, sentence, words }: ReturnType<typeof writer>): string => {
    const kind = own.next()
    if (kind < 0.76) return paragraph()
    if (kind < 0.88) return Array.from({ length: own.between(3, 6) }, () => `- ${sentence()}`).join("\n")
    if (kind < 0.95) {
      const rows = Array.from(
        { length: own.between(3, 8) },
        () => `| ${words(2)} | ${own.between(1, 9999)} |`
      )
      return ["| name | value |", "| --- | --- |", ...rows].join("\n")
    }
    return [
      "```ts",
      ...Array.from({ length: 5 }, () => `const ${words(1)} = ${own.between(0, 99)}`),
      "```"
    ].join("\n")
  }

  return {
    document: (index) => {
      const made = writer(index)
      const parts = [`# ${made.heading()}`, made.paragraph()]
      for (let section = 0; section < 8; section++) {
        parts.push(`${section % 3 === 2 ? "###" : "##"} ${made.heading()}`)
        for (let at = made.own.between(2, 4); at > 0; at--) parts.push(block(made))
      }
      const folder = String(index % 100).padStart(2, "0")
      return {
        path: `${folder}/document-${String(index).padStart(6, "0")}.md`,
        text: `${parts.join("\n\n")}\n`
      }
    },
    question: (index) => `What is the ${writer(index).words(seeded(index).between(6, 12))}?`
  }
}

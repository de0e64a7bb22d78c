/** Forms that a stemmer does not join: “held” is “hold”, “three” and “drei” are “3”. */
import { tokenize } from "./tokenize.ts"

const VERBS =
  "become became; begin began begun; bind bound; break broke broken; bring brought; build built; buy bought; catch caught; " +
  "choose chose chosen; come came; draw drew drawn; drive drove driven; eat ate eaten; fall fell fallen; feed fed; " +
  "fight fought; find found; fly flew flown; forbid forbade forbidden; freeze froze frozen; get got gotten; give gave given; " +
  "go went gone; grow grew grown; hear heard; hide hid hidden; hold held; keep kept; know knew known; lay laid; lead led; " +
  "leave left; lend lent; lose lost; make made; mean meant; meet met; pay paid; ride rode ridden; ring rang rung; " +
  "rise rose risen; run ran; say said; see saw seen; sell sold; send sent; shoot shot; show showed shown; sing sang sung; " +
  "sink sank sunk; sleep slept; speak spoke spoken; spend spent; stand stood; steal stole stolen; strike struck; " +
  "swim swam swum; take took taken; teach taught; tell told; think thought; throw threw thrown; understand understood; " +
  "wear wore worn; win won; write wrote written"

const NUMBERS =
  "1 one first un uno primer ein eins 一; 2 two second ii deux dos zwei 二 两; 3 three third iii trois tres drei 三; " +
  "4 four fourth iv quatre cuatro vier 四; 5 five fifth v cinq cinco fünf 五; 6 six sixth vi seis sechs 六; " +
  "7 seven seventh vii sept siete sieben 七; 8 eight eighth viii huit ocho acht 八; " +
  "9 nine ninth ix neuf nueve neun 九; 10 ten tenth dix diez zehn 十; 11 eleven onze once elf; " +
  "12 twelve douze doce zwölf; 13 thirteen treize trece dreizehn; 14 fourteen quatorze catorce vierzehn; " +
  "15 fifteen quinze quince fünfzehn; 16 sixteen seize sechzehn; 17 seventeen siebzehn; 18 eighteen achtzehn; " +
  "19 nineteen neunzehn; 20 twenty vingt veinte zwanzig"

const bases = new Map(
  `${VERBS}; ${NUMBERS}`.split("; ").flatMap((forms) => {
    const [base = "", ...others] = tokenize(forms).map(({ key }) => key)
    return others.map((other) => [other, base] as const)
  })
)

/** The stem of a verb's infinitive, the digits of a number, or the stem as it is. */
export const baseForm = (stem: string): string => bases.get(stem) ?? stem.replace(/^0+(?=\d)/, "")

/** Irregular verbs, whose forms a stemmer does not join: “held” is a form of “hold”. */
import { stem } from "./stem.ts"

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

const bases = new Map(
  VERBS.split("; ").flatMap((verb) => {
    const [base = "", ...past] = verb.split(" ")
    return past.map((form) => [stem(form), stem(base)] as const)
  })
)

/** True if two stems are forms of one verb. */
export const isSameVerb = (a: string, b: string): boolean => (bases.get(a) ?? a) === (bases.get(b) ?? b)

/** What becomes of the candidates: in which order they end, which are recalled, which kept, and where the same is said. */
import type { RerankerModel } from "@sluice/core"
import { recalledOf, type Uncrowded } from "./Crowds.ts"
import type { StoredPassage } from "../document/Document.ts"
import type { Copies } from "./Duplicates.ts"
import type { Fused } from "./Fusion.ts"
import { keepOf } from "./Keeping.ts"
import type { Hit } from "../store/PassageIndex.ts"
import { finalOrder, type Reranked } from "./RerankOrder.ts"
import type { RetrievePlan } from "./RetrieveOptions.ts"
import type { TracedPassage } from "./Trace.ts"

/** Copies of a kept passage that are named. */
export const ALSO_AT = 100

/** Where else in the collection the same is said. */
export type Place = Pick<StoredPassage, "id" | "document" | "headings" | "start" | "end" | "page">

/** A passage that is kept, with what was asked for besides. */
export interface KeptPassage extends StoredPassage {
  /** Others found that say the same, or nearly where two such are kept, on other pages or in other documents, `ALSO_AT` at most; absent where there are none. */
  readonly alsoAt?: ReadonlyArray<Place>
  /** With `expand: "section"`: itself and its neighbours under the same headings, in order. */
  readonly section?: ReadonlyArray<StoredPassage>
}

/** All that was found, and what the reranker said of its head. */
interface Found extends Uncrowded {
  readonly question: string
  readonly asked: RetrievePlan
  /** Best first; `fused` is what the reranker was to look at. */
  readonly all: ReadonlyArray<Fused>
  readonly priors: ReadonlyArray<number>
  /** Undefined where it was late. */
  readonly reranked: Reranked | undefined
  readonly kind: RerankerModel["kind"]
  readonly copied: Copies
}

export interface Chosen {
  /** What became of each candidate, in the fused order. */
  readonly candidates: ReadonlyArray<TracedPassage>
  /** So many of them, by their ranks, are recalled. */
  readonly recalled: number
  /** Best first. */
  readonly kept: ReadonlyArray<KeptPassage>
}

export const choose = ({
  all,
  asked,
  copied,
  copies,
  fused,
  kind,
  priors,
  question,
  reranked,
  texts
}: Found): Chosen => {
  const { order, values } =
    reranked === undefined
      ? { order: fused.map((_, i) => i), values: undefined }
      : finalOrder(question, reranked, priors, kind)
  const recalled = recalledOf(order, texts, asked.recall)
  const { kept, sameAs } = keepOf(
    copied,
    order.slice(0, recalled).map((i) => ({
      ...fused[i]!.hit,
      score: reranked?.scores[i],
      relevance: values?.[i]
    })),
    asked
  )
  // Copies that were left out keep their place in the fused list.
  const ranks = new Map(all.map(({ hit }, i) => [hit.passage.id, i + 1]))
  const passageAt = (place: number) => fused[order[place]!]!.hit.passage
  const candidates = order
    .map((i, place): TracedPassage => {
      const { hit, score } = fused[i]!
      const rerankScore = reranked?.scores[i]
      const one = sameAs.get(place)
      return {
        passage: hit.passage,
        ...found(hit),
        recallRank: ranks.get(hit.passage.id)!,
        recallScore: score,
        ...(rerankScore === undefined ? {} : { rerankScore }),
        rerankRank: place + 1,
        kept: kept.includes(place),
        ...(one === undefined ? {} : { sameAs: passageAt(one).id })
      }
    })
    .toSorted((a, b) => a.recallRank - b.recallRank)
  return {
    candidates,
    recalled,
    kept: kept.map((place): KeptPassage => {
      const passage = passageAt(place)
      const alsoAt = [
        ...candidates.filter(({ sameAs: id }) => id === passage.id),
        ...copies
          .values()
          .filter((copy) => copy.text === texts[order[place]!] && copied.same(passage, copy.passage))
          .take(ALSO_AT)
      ]
        .slice(0, ALSO_AT)
        .map((one) => placeOf(one.passage))
      return alsoAt.length === 0 ? passage : { ...passage, alsoAt }
    })
  }
}

/** What the two ways of recall say of a hit; what they do not say is absent. */
const found = ({ keywordRank, keywordScore, similarity, vectorRank }: Hit) => ({
  ...(similarity === undefined ? {} : { similarity }),
  ...(vectorRank === undefined ? {} : { vectorRank }),
  ...(keywordScore === undefined ? {} : { keywordScore }),
  ...(keywordRank === undefined ? {} : { keywordRank })
})

const placeOf = ({ document, end, headings, id, page, start }: StoredPassage): Place => ({
  id,
  document,
  headings,
  start,
  end,
  ...(page === undefined ? {} : { page })
})

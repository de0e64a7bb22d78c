/** The stages of retrieval: what a stage of your own implements, the defaults, and how a result is explained and compared. */
export { splitQuestion } from "./answering/SplitQuestion.ts"
export { type Filterable, matches } from "./document/Filter.ts"
export type { Change, QuestionChange, RankChange } from "./retrieval/Compare.ts"
export { CANDIDATES, KEEP, RECALL, retrieveOptionsSchema } from "./retrieval/RetrievePlan.ts"
export type { PassageWhy, Why } from "./retrieval/Why.ts"
export { FUSION, FusionWeights } from "./retrieval/stages/Fusion.ts"
export { RetrievalStages, STAGES } from "./retrieval/stages/index.ts"
export type {
  Deadline,
  Duplicates,
  ExplainedPassage,
  FusedHit,
  KeptPassage,
  Outcome,
  PassageRank,
  Place,
  RankedPassage,
  RetrievalStage,
  RetrievalState,
  StageExplanation
} from "./retrieval/stages/RetrievalStage.ts"
export {
  countOption,
  type Defined,
  type RetrievePlan,
  type StageOption,
  stageOption
} from "./retrieval/stages/RetrieveOptions.ts"

export { type Configuration, type Evaluation, evaluateRetrieval } from "./Evaluation.ts"
export type { EvaluatedRun } from "./Runs.ts"
export { type UsageMeter, meteredModels, type ModelUse } from "./MeteredModels.ts"
export * from "./Comparison.ts"
export * from "./Metrics.ts"
export { evaluateLibrary, evaluateQuestions, type LibraryEvaluation } from "./LibraryEvaluation.ts"
export { LibraryQuestion, questionsOf } from "./Questions.ts"
export { evaluateFigures, type FigureEvaluation } from "./FigureEvaluation.ts"
export * from "./FigureScores.ts"
export {
  type AnswerEvaluation,
  evaluateAnswers,
  expectedAnswers,
  prepareQuestions
} from "./AnswerEvaluation.ts"
export * from "./AnswerScores.ts"
export * from "./Tune.ts"

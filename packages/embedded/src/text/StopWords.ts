/** Stop words: they build a sentence and say nothing about its topic. */

const english = `a about above across after again against all almost along already also although always am among an and
another any anyone anything are aren around as at away back be became because become been before behind being below
between beyond both but by can cannot could couldn d did didn do does doesn doing don done down due during each either
else etc even ever every everyone everything few for from further had hadn has hasn have haven having he hence her here
hers herself him himself his how however i if in indeed instead into is isn it its itself just ll m many may maybe me
might mine more most much must mustn my myself near neither no nor not nothing now of off often on once only onto or
other others our ours ourselves out over own per perhaps quite rather re really s same shall shan she should shouldn
since so some someone something still such t than that the their theirs them themselves then there thereby therefore
these they this those though through throughout thus till to together too toward towards under unless until up upon us
ve very via was wasn we were weren what whatever when whenever where whereas wherever whether which while who whoever
whom whose why will with within without won would wouldn yet you your yours yourself yourselves`

/** Single characters. As parts of pairs they count. */
const chinese =
  "的 了 是 在 和 与 及 或 也 都 就 而 着 之 于 被 把 从 对 为 以 等 这 那 其 它 他 她 们 您 吗 呢 吧 啊 么"

/** Pairs of question words: they tell the kind of answer, not the topic. */
const questionPairs =
  "什么 怎么 怎样 如何 哪些 哪个 哪里 哪位 哪年 多少 几个 为何 为什 是否 是什 是谁 请问 何时 何地 有哪"

const stopWords = new Set(`${english} ${chinese} ${questionPairs}`.split(/\s+/))

/** True for a stop word: a word in lower case, a Chinese character, or a pair of characters. */
export const isStopWord = (word: string): boolean => stopWords.has(word)

/**
 * Words that keywords leave out: they say how a sentence is built, not what it is about.
 *
 * LanceDB's own list is that of all its languages together once the tokenizer is ICU's, and takes away words that are
 * asked for: 重要, 组成, 属于, 问题, and "die" and "mine" from English.
 */
export const KEYWORD_STOP_WORDS: ReadonlyArray<string> =
  `a about above after again against all am an and any are aren as at be because been before being below between both but
by can couldn d did didn do does doesn doing don down during each few for from further had hadn has hasn have haven
having he her here hers herself him himself his how i if in into is isn it its itself just ll m me more most mustn my
myself no nor not now of off on once only or other our ours ourselves out over own per re s same shan she should shouldn
so some such t than that the their theirs them themselves then there these they this those through to too under until up
ve very was wasn we were weren what when where which while who whom why will with won wouldn you your yours yourself
yourselves
的 了 是 在 和 与 及 或 也 都 就 而 着 之 于 被 把 从 对 为 以 等 这 那 其 它 他 她 们 您 吗 呢 吧 啊 么
什么 怎么 怎样 如何 哪些 哪个 哪里 哪位 多少 几个 为何 为什么 是否 谁 请问`.split(/\s+/)

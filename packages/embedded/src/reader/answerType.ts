/** The kind of answer that a question asks for, and tests for sentences of that kind. */
import { escape } from "effect/RegExp"
import { isStopWord } from "../text/StopWords.ts"

const NUMBER =
  /\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|billion|once|twice|half|dozen|none)\b|[零一二两三四五六七八九十百千万亿半]{1,12}\s*(?:个|名|人|年|月|天|日|次|元|米|公里|小时|分钟|种|座|条|本|岁|级|万|亿|度|摄氏|秒|周|克|斤|公斤|吨|升|毫升|厘米|毫米|平方|倍|页|张|件|只|台|辆|层|间|瓶|杯|盒|箱|份|角)|百分之/iu
const TIME =
  /\b(?:1\d|20)\d\d\b|\b\d{1,2}[:.]\d\d\b|\b\d{1,2}\s?(?:am|pm|a\.m|p\.m|o'clock)|\b(?:January|February|March|April|May|June|July|August|September|October|November|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|spring|summer|autumn|winter|morning|noon|evening|midnight|day|week|month|year|century|daily|weekly|monthly|yearly|annually|today|before|after|until|when|hours?)s?\b|[年月日时点]|世纪|星期|周|春|夏|秋|冬|每天/iu
const DATE =
  /\b(?:1\d|20)\d\d\b|\b\d{1,2}(?:st|nd|rd|th)? (?:January|February|March|April|May|June|July|August|September|October|November|December)\b|\bcentury\b|\d{2,4}\s*年|世纪|\d月/iu
const DURATION =
  /(?:\d|\b(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen|twenty|thirty|sixty|ninety|hundred)\b)[\s-]*(?:\p{L}{1,30}[\s-]+)?(?:second|minute|hour|day|week|month|year|decade|centur)|[\d一二两三四五六七八九十百半]\s*(?:秒|分钟|小时|个小时|天|日|周|个月|年)/iu
const PERSON =
  /(?<=[\p{L}\p{N},]\s)\p{Lu}\p{Ll}+|\p{Lu}\p{Ll}+\s+\p{Lu}|\b(?:[Hh]e|[Ss]he|[Tt]hey|[Ee]verybody|[Aa]nyone|[Nn]obody|[Kk]eeper|[Mm]anager|[Tt]eam|[Oo]ffice|[Ss]taff|[Cc]hief|[Pp]resident|[Dd]irector)\b|[人者员长家师生氏]|先生|女士|(?<=\p{Script=Han})·(?=\p{Script=Han})/u
const PLACE =
  /\b(?:in|at|on|near|behind|beside|under|above|between|from|to|inside|outside|north|south|east|west)\s+(?:the\s+|an?\s+)?\S|[在于位][^，。]{0,20}(?:[里中上下内外旁边处省市县区国州岛村镇路街山河])|(?:位于|地处)/u
const REASON =
  /\b(?:because|since|so that|so as|due to|owing to|in order to|to (?:avoid|prevent|save|keep|make|protect|ensure)|therefore|otherwise|reason|cause[sd]?|as a result|or else)\b|因为|由于|因此|所以|为了|以便|导致|原因|以免|否则/iu

const kinds: ReadonlyArray<readonly [asks: RegExp, answers: RegExp]> = [
  [/\bhow (?:long|old)\b|多久|多长时间|几天|几年|几个月|几小时|多少(?:天|年|小时|分钟)/i, DURATION],
  [
    /\bhow (?:many|much|often|far|high|tall|deep|big|large|fast|wide|heavy|hot|cold)\b|\bwhat (?:number|percentage|share|fraction|price|cost|size|speed|temperature)\b|\bwhat (?:is|was|are|were) (?:the )?(?:\S+ ){0,3}?(?:mean|average|median|maximum|minimum|total|number|ratio|rate|share|percentage|latency|throughput|score|length|width|height|depth|weight|speed|temperature|price|cost|fee|size)\b|多少|几[个名人次种座条本岁级元米]|多[高大深远重快宽]/i,
    NUMBER
  ],
  [/\bwhen (?:was|were|did|had|has|have)\b|\b(?:what|which) (?:year|date|century)\b|哪一?年/i, DATE],
  [
    /\bwhen\b|\b(?:what|which) (?:year|date|day|time|month|century)\b|何时|什么时候|什么时间|哪一?年|哪一?天|几点|几月/i,
    TIME
  ],
  [/\bwho(?:m|se)?\b|谁|哪位|何人|什么人/i, PERSON],
  [
    /\bwhere\b|\b(?:what|which) (?:place|city|country|town|room|street)\b|哪里|哪儿|何处|何地|什么地方|哪个?(?:国|省|市|县|城)/i,
    PLACE
  ],
  [/\bwhy\b|\bwhat (?:reason|causes?)\b|为什么|为何|原因/i, REASON]
]

/** Questions about money, which only an amount answers. */
const COST =
  /\bhow much (?:does|do|did|will|would)\b.*\b(?:cost|earn|pay)\b|\bwhat (?:does|do|did|will|would)\b.*\bcost\b|\bwhat (?:is|are|was|were) (?:the )?(?:\S+ ){0,4}?(?:price|fee|salary|wage|cost)s?\b|多少钱|(?:工资|价格|费用|票价|收费).{0,6}多少/iu
/** A number in words is an amount unless it counts time: “ninety crowns”, but not “three days”. */
const AMOUNT =
  /[$€£¥₹]|\d|\bfree\b|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|half|nothing)\b(?![\s-]+(?:second|minute|hour|day|week|month|year|but\b))|免费|[零一二两三四五六七八九十百千万亿半]\s*(?:元|块|角|分|克朗|镑|美|欧|日元)/iu

/** Questions of count or measure, which a number or a word for one answers. */
const COUNT =
  /\bhow (?:many|fast|tall|deep|wide|heavy|hot|cold|high|big|large)\b|多少(?!钱)|几[个名人次种座条本岁级元米]|多[高大深远重快宽]/iu
const COUNTED = /\b(?:zero|none|several|dozens?|single|both|all|every|unlimited|percent)\b|%|[没无每]/iu

const LASTING =
  /\b(?:until|till|always|ever|forever|indefinitely|permanent\w*|whole|all|throughout|overnight|brief\w*|short\w*|immediate\w*|instant\w*|(?:second|minute|hour|night|day|week|month|season|year|decade)s?)\b|直到|直至|永远|整[天日夜年]|[天日周月年夜]/iu

const LARGE_OR_SMALL =
  "most|least|fewest|best|worst|(?:larg|great|bigg|small|high|low|long|short|tall|deep|old|new|young|fast|slow|quick|busi|heavi|light|cheap|strong|weak|wid|wett|dri|hott|cold|warm|lat|earli)est"
/** Questions for an extreme, which only a comparison answers. */
const MOST = new RegExp(
  `\\b(?:which|what)\\s+(?:\\p{L}+\\s+){1,3}?(?:had|has|have|was|is|were|are|got|gets|saw|sees|made|makes|gave|gives|took|takes|received|receives)\\s+the\\s+(?:${LARGE_OR_SMALL})\\b|哪[^，。？]{0,12}最`,
  "iu"
)
const COMPARED = new RegExp(
  `\\b(?:${LARGE_OR_SMALL}|peak\\w{0,3}|record|top|max\\w*|min\\w*|only|never|\\w+ than)\\b|最|比|超过|高于|低于`,
  "iu"
)

const MONTHS =
  /\b(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b|月|\b\d{4}-\d\d\b|\b\d{1,2}[./]\d{1,2}\b/u

/** Numbers that are labels: of figures, tables, sections and references. */
const LABEL =
  /(?:\b(?:fig(?:ure)?|table|section|chapter|page)s?\.?|[图表])\s{0,3}\d[\d.]*|\[\d{1,3}(?:[,–-]\s?\d{1,3})*\]|^\d{1,2}(?:\.\d{1,2}){1,4}\s/giu
const unlabelled = (sentence: string): string => sentence.replace(LABEL, "")

/** Words that occur with an amount of money. */
const MONEY =
  /[$€£¥₹元块镑价费]|克朗|免费|\b(?:cost\w*|pric\w+|fees?|fares?|charg\w+|pays?|paid|salar\w+|wages?|free|earn\w*|budget\w*|worth|deposit\w*|crowns?|dollars?|euros?|pounds?|pence|cents?|francs?|yen|yuan|USD|EUR|GBP|CHF|nothing)\b/iu
const COLOUR =
  /\b(?:red|green|blue|yellow|white|black|gr[ae]y|brown|orange|purple|pink|violet|silver|gold|dark|light|pale|tabby|ginger)\w{0,3}\b|[红绿蓝黄白黑灰棕紫粉]/iu
const TELEPHONE = /\d(?:[\s()+/-]?\d){5,}/
const UNIT_OF_WEIGHT =
  /\b(?:weigh\w*|kg|kilo\w*|grams?|tons?|tonnes?|lbs?|pounds?)\b|\d\s?(?:g|t)\b|公斤|千克|吨|克/iu
const DATED =
  /\b(?:1\d|20)\d\d\b|\b\d{1,2}[:.]\d\d\b|\b(?:January|February|March|April|May|June|July|August|September|October|November|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|spring|summer|autumn|winter|Easter|Christmas)\b|\b(?:century|centuries|decades?|ago|yesterday|recently|(?:after|before|when|once|until|during|as soon as)\s\p{Ll})/u
const AGE =
  /\byears?\b|\bold\b|\baged?\b|\bborn\b|\bdat(?:es|ed|ing) (?:from|back)\b|\b(?:built|opened|founded|hung|made|erected)\b|岁|年|出生/iu
const LONG = /\bhow long (?:is|are|was|were) (?:the|an?|its|their)\b/i
const HAS_LENGTH =
  /\d[^.;]{0,80}\blong\b|\b(?:length\w*|times?|lasts?|lasted|takes?|took|stays?|duration\w*)\b|\d\s?(?:ms|s|secs?|seconds?|minutes?|k?m|(?:kilo)?met(?:er|re)s?|miles?)\b/i
const A_NUMBER =
  "(?:(?<![\\d.,])\\d[\\d.,]{0,12}|\\b(?:an?|half|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred)\\b)"
const SOME_TIME = `${A_NUMBER}(?:[\\s–-]{1,3}(?:to|or|and|an?|half|full|working|business|calendar|${A_NUMBER})){0,4}[\\s–-]{0,3}(?:seconds?|min(?:ute)?s?|hours?|hrs?|h|days?|nights?|weeks?|months?|years?|yrs?|decades?|centur(?:y|ies))\\b(?!\\s+(?:old|ago|away|late|early)\\b)`
const ABOUT =
  "(?:(?:at (?:least|most)|(?:no )?(?:more|less) than|up to|about|around|approximately|nearly|only|usually|now)\\s+)?"

/**
 * Matches a duration of the thing itself, or of what is done to it: “the notice is six weeks”, “*kept* for ten years”, “two
 * days of leave”. “The boat is hired for two hours” does not say how long the boat is.
 */
const lastingOf = (question: string): RegExp => {
  const words = (question.replace(LONG, "").match(/\p{L}{3,}/gu) ?? []).join("|") || "(?!)"
  const done =
    /\s(\p{L}+(?:ed|[dkt]en|own|ept|eft|eld|ut))(?=\W*$|\s+(?:in|on|at|by|after|before|during|to|from|with)\b)/iu.exec(
      question
    )?.[1] ?? "(?!)"
  return new RegExp(
    `(?:^\\W*|[:：·=]\\s*|\\b(?:is|are|was|were|be)\\s+|\\b(?:${words})\\w*\\s+(?:(?:for|of)\\s+)?|\\b${done}\\b[^.;]{0,60}?\\bfor\\s+)${ABOUT}${SOME_TIME}|${SOME_TIME}['’]?[\\s-]+(?:of\\s+)?(?:\\p{L}+\\s+)?(?:${words})\\b`,
    "iu"
  )
}

/** The same in Chinese: “保修期为两年”, but not “船闸每天开放十二小时” for the lock. */
const lastingInChinese = (question: string): RegExp => {
  const thing = /(\p{Script=Han}{1,2}?)[是有为]?多长/u.exec(question)?.[1] ?? "(?!)"
  const some = "(?!\\d{4}\\s*年)[\\d.零一二两三四五六七八九十百千半]{1,8}"
  return new RegExp(
    `${thing}(?:[^，。；的]{0,6}?[为是有共达:：·])?\\s*[约近]?\\s*${some}\\s*(?:秒|分钟|个?小时|天|周|个?星期|个半?月|年)`,
    "u"
  )
}

/** Tests for the word of a measure, in the sentence or above it. */
const measured = (own: RegExp) => (sentence: string, above: string) => own.test(sentence) || own.test(above)

/** Numbers that measure, and numbers in dates: they do not count things. */
const MEASURES =
  /\b(?:\d[\d.,]{0,20}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|hundred)[\s-]?(?:°|%|(?:mm|cm|m|km|kg|g|s|ms|hPa|[KMGT]B|per ?cent|met(?:er|re)s?|kilomet(?:er|re)s?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|crowns?|dollars?|euros?|litres?|degrees?)\b)|\b\d{1,2}[:.]\d\d\b|\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December)\b|\b(?:January|February|March|April|May|June|July|August|September|October|November|December),? (?:1\d|20)\d\d\b|\b(?:[Ii]n|[Ss]ince|of|[Bb]y|[Uu]ntil|[Ff]rom|[Aa]fter|[Bb]efore|[Dd]uring) (?:1[5-9]|20)\d\d\b/gu

/** Patterns for one question: the duration of its thing, and a value of its last word (“the load is 500 kg”). */
interface QuestionPatterns {
  readonly lasting: RegExp
  readonly valued: RegExp
}

const requirements: ReadonlyArray<
  readonly [asks: RegExp, answers: (sentence: string, above: string, asked: QuestionPatterns) => boolean]
> = [
  [
    /\bhow much (?:is|are|was|were) (?:the|an?|it)\s+(?:\S+\s*){1,3}$/iu,
    (sentence, above, { valued }) =>
      AMOUNT.test(sentence) &&
      (MONEY.test(sentence) ||
        MONEY.test(above) ||
        /%|\bper ?cent\b/i.test(sentence) ||
        valued.test(sentence))
  ],
  [COST, (sentence, above) => AMOUNT.test(sentence) && (MONEY.test(sentence) || MONEY.test(above))],
  [/\b(?:what|which) colou?rs?\b|什么颜色/i, (sentence) => COLOUR.test(sentence)],
  [/\b(?:tele)?phone number\b|电话号码/i, (sentence) => TELEPHONE.test(sentence)],
  [/\bhow (?:much\b.*\bweigh|heavy)\b|多重/i, measured(UNIT_OF_WEIGHT)],
  [/\bwhen (?:was|were|did)\b/i, (sentence) => DATED.test(sentence)],
  [/\bhow old\b|多大年纪|几岁/i, (sentence) => AGE.test(sentence)],
  [
    LONG,
    (sentence, above, { lasting }) =>
      HAS_LENGTH.test(sentence) || HAS_LENGTH.test(above) || lasting.test(sentence)
  ],
  [/\bhow (?:large|big)\b/i, (sentence) => NUMBER.test(unlabelled(sentence))],
  [/\bhow wide\b|多宽/i, measured(/\b(?:wid\w+|breadth|broad|across)\b|宽/i)],
  [/\bhow deep\b|多深/i, measured(/\b(?:deep\w*|depths?|draughts?|draws?|below|under|down to)\b|深/i)],
  [
    /\bhow (?:high|tall)\b|多高/i,
    measured(
      /\b(?:high\w*|heights?|headroom|altitude|elevation|tall\w*|levels?|gauges?|above|ris\w+|stood|up to)\b|高|位/i
    )
  ],
  [
    /长多少|多长(?!时间)/,
    (sentence, above, { lasting }) => /长/.test(sentence) || /长/.test(above) || lasting.test(sentence)
  ],
  [
    /多少(?=[个名人艘条张台辆家种])/,
    (sentence) => /[\d零一二两三四五六七八九十百千万几]\s*[个名人艘条张台辆家种]/u.test(sentence)
  ],
  [COUNT, (sentence) => NUMBER.test(unlabelled(sentence)) || COUNTED.test(sentence)],
  [
    /\bhow many (?!\p{L}*(?:met(?:er|re)|second|minute|hour|day|week|month|year|crown|dollar|euro|pound|byte|per ?cent|degree)s?\b)/iu,
    (sentence) => COUNTED.test(sentence) || NUMBER.test(unlabelled(sentence).replace(MEASURES, ""))
  ],
  [
    /\bhow long\b|多久|多长时间/i,
    (sentence) => DURATION.test(sentence) || NUMBER.test(sentence) || LASTING.test(sentence)
  ],
  [MOST, (sentence) => COMPARED.test(sentence)],
  [/\b(?:which|what) year\b|哪一?年/i, (sentence) => /\b\d{3,4}s?\b|century|\d年|世纪/i.test(sentence)],
  [/\b(?:which|what) month\b|哪个?月|几月/i, (sentence) => MONTHS.test(sentence)]
]

/** A test for what every sentence of the answer must have, by itself or from the headings above it. */
export const requirementTest = (question: string): ((sentence: string, above: string) => boolean) => {
  const required = requirements.filter(([asks]) => asks.test(question))
  const last = /(?<!\p{L})(\p{L}+)[^\p{L}\w]*$/u.exec(question)?.[1] ?? "(?!)"
  const asked = {
    lasting: /多长/.test(question) ? lastingInChinese(question) : lastingOf(question),
    valued: new RegExp(`\\b${last}\\s+(?:is|are|was|were)\\s+${ABOUT}\\d`, "iu")
  }
  return (sentence, above) => required.every(([, answers]) => answers(sentence, above, asked))
}

const DEFINITION =
  /^\s*(?:what|who)(?:'s| is| are| was| were)\s+(?:an?\s+|the\s+)?([^?]+?)\s*\?*\s*$|^\s*(.{1,20}?)(?:是什么|是谁|是指什么|指的是什么)/iu

/** Tests for the word with a qualifier that the question lacks: “the *pintle* bearing”. */
const namesA = (word: string, question: string): ((sentence: string) => boolean) => {
  const asked = new Set(question.toLowerCase().match(/\p{L}+/gu))
  const named = new RegExp(`([\\p{L}-]+)\\s+${word}s?\\b`, "giu")
  return (sentence) =>
    [...sentence.matchAll(named)].some(([, before = ""]) => {
      const qualifier = before.toLowerCase()
      return !asked.has(qualifier) && !isStopWord(qualifier)
    })
}

/**
 * A test for sentences with the kind of answer that a question asks for: a number, time, duration, person, place, reason,
 * one of several, or a definition. Undefined for another kind.
 */
export const answerTypeTest = (question: string): ((sentence: string) => boolean) | undefined => {
  const found = kinds.find(([asks]) => asks.test(question))
  if (found !== undefined) return (sentence) => found[1].test(sentence)
  const chosen = /\b(?:which|what)\s+(\p{L}{3,30})\b/iu.exec(question)?.[1]
  if (chosen !== undefined && !isStopWord(chosen.toLowerCase())) return namesA(chosen, question)
  const defined = DEFINITION.exec(question.replace(/\s+/g, " "))
  const subject = defined?.[1] ?? defined?.[2]
  if (subject === undefined || subject.length > 80 || subject.split(/\s+/).length > 5) return undefined
  const definition = new RegExp(
    `^(?:\\W*(?:an?|the)\\s+)?.{0,12}?${escape(subject)}.{0,40}?(?:\\b(?:is|are|was|were|means|refers to)\\b|是|指|[:：—])|\\b(?:called|known as|termed|named|referred to as|refer to as)\\s+(?:an?\\s+|the\\s+)?\\W?${escape(subject)}|(?:称为|叫做|称作)${escape(subject)}`,
    "iu"
  )
  return (sentence) => definition.test(sentence)
}

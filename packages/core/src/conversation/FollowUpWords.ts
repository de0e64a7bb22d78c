/** The words by which a follow-up refers to what was said before, in each language. */

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "))

const start = (alternatives: string): RegExp => new RegExp(`^(?:${alternatives})(?!\\p{L})`, "iu")
const all = (alternatives: string): RegExp => new RegExp(`(?<!\\p{L})(?:${alternatives})(?!\\p{L})`, "giu")

/** A language with spaces between its words. */
export interface FollowUpLanguage {
  /** Words without a topic. They also tell the language. */
  readonly function: ReadonlySet<string>
  readonly question: ReadonlySet<string>
  readonly auxiliary: ReadonlySet<string>
  readonly article: ReadonlySet<string>
  /** Prepositions that continue a noun phrase: “the depth of the lock”. */
  readonly of: ReadonlySet<string>
  readonly preposition: ReadonlySet<string>
  /** What begins a clause that may refer to the one before it: “Does it close when it rains?” has its own subject there. */
  readonly clause: RegExp
  readonly pronoun: RegExp
  readonly possessive: RegExp
  /** Pronouns that refer to nothing, such as that of “how long does it take to …”. */
  readonly expletive: RegExp
  /** “And …”, “What about …”. */
  readonly opening: RegExp
  /** Nouns that name no thing by themselves: “the paper”. */
  readonly generic: RegExp
  /** “What is Raft?” has one word with a topic, and is a whole question. */
  readonly definition: RegExp
}

const english: FollowUpLanguage = {
  function: words(
    "a an the and or but of in on at to for from with without by about as into than is are was were be been am do does did " +
      "has have had can could may might must shall should will would what which who whom whose when where why how it its " +
      "they them their theirs he him his she her hers this that these those there then i you we me my your our us if not " +
      "no so too very much many long often far any some all more most less each every both either other there also just"
  ),
  question: words("what which who whom whose when where why how"),
  auxiliary: words(
    "is are was were be do does did has have had can could may might must shall should will would"
  ),
  article: words("a an the this that these those its their his her"),
  of: words("of"),
  preposition: words(
    "in on at to for from with without by about under over above below after before during since until between through if when as against per"
  ),
  clause:
    /,|;|\b(?:when|if|while|because|after|before|until|since|that|which|who|and|or|but|so|as|than|where|whether|though|although)\b/i,
  pronoun: all(
    "it|they|them|he|him|she|hers|theirs|these|those(?! who| that| of)|this(?! (?:week|month|year|morning|afternoon|evening|weekend|spring|summer|autumn|winter))|there|(?<=(?:is|was|does|did|of|about|for|after|before|like|do|in|with|to|from) )that(?= ?$)|that(?= (?:cost|mean|work|happen|take|help|apply))|the (?:latter|former|first one|second one|other one|others)|(?<=which |the first |the second |the last |the other )ones?|her(?= ?$)"
  ),
  possessive: all("its|their|his|her(?= \\p{L})"),
  expletive:
    /\bit (?:takes?|rains?|snows?|is raining|costs? to|is called)\b|\b(?:is|was|will|does|did|may|might|can|could) it (?:be |going to )?(?:rain|snow|freez|hail)(?:e|ing)?\b|\b(?:does|did|will|can|may|would) it (?:take|cost|rain|snow|mean)(?= (?:to|for|that|if|when)\b| (?:a|an|the) )|\b(?:(?:is|was) it|it (?:is|was)(?: not)?) (?:\w+ )?(?:to|that|for)\b|\b(?:is|are|was|were|will|has|have|had|can|could|may|must|should) there\b|\bthere (?:is|are|was|were|will|has|have|had|can|could|may|must|should)\b|\b(?:does|do) there exist\b|\bwhat time is it\b/gi,
  opening:
    /^(?:(?:and|but|or|also|so|then|ok(?:ay)?)(?:,? (?:what|how) about)?|(?:what|how) about|what if|why not|any other|anything else|what else|who else|where else)(?!\p{L})/iu,
  generic:
    /\bthe (?:paper|study|report|article|document|text|authors?|book|film|method|system|algorithm|company|approach|results?)\b/i,
  definition:
    /^(?:what|who)(?:'s| is| are| was| were| does| do)?(?: an?| the)? \S+(?: mean| stand for)?\s*\??$|^(?:define|explain|describe) /i
}

const german: FollowUpLanguage = {
  function: words(
    "der die das den dem des ein eine einen einem einer eines und oder aber von vom im in am an auf aus bei mit nach zu zum " +
      "zur für ohne über unter um ist sind war waren wird werden wurde wurden hat haben hatte kann können darf muss soll " +
      "was welche welcher welches welchen wer wen wem wessen wann wo warum wieso wie es er sie ihn ihm ihr ihre sein seine " +
      "diese dieser dieses dort da dann ich du wir man nicht kein so sehr viel viele lange oft auch noch"
  ),
  question: words("was welche welcher welches welchen wer wen wem wessen wann wo warum wieso wie"),
  auxiliary: words("ist sind war waren wird werden wurde wurden hat haben hatte kann können darf muss soll"),
  article: words("der die das den dem des ein eine einen einem einer eines dieser diese dieses"),
  of: words("des der von vom"),
  preposition: words(
    "in im am an auf aus bei mit nach zu zum zur für ohne über unter seit bis vor während zwischen wenn gegen um"
  ),
  clause:
    /,|;|\b(?:wenn|falls|während|weil|nachdem|bevor|bis|dass|und|oder|aber|sodass|als|ob|obwohl|sobald)\b/i,
  pronoun: all(
    "es|er|sie|ihn|ihm|ihnen|dies|dieser|diese|dieses|diesem|diesen|dort|jener|jene|jenes|davon|dafür|damit|dazu|darin|darüber|daran|dabei"
  ),
  possessive: all("sein|seine[rnsm]?|ihre?[rnsm]?|dessen|deren"),
  expletive:
    /\bes (?:gibt|regnet|schneit)\b|\bgibt es\b|\bdauert es(?=,| )|\bist es (?:\p{L}+ )?(?:,|zu|dass)|\bhandelt es sich\b|\bkostet es(?=,)/giu,
  opening: start(
    "und|aber|oder|auch|wie (?:sieht|steht|ist) es mit|was ist mit|wie wäre es mit|was noch|wer noch|sonst noch"
  ),
  generic: /\b(?:der|die|das) (?:Studie|Bericht|Artikel|Autor(?:en)?|Dokument|Verfahren|Firma|Buch|Film)\b/,
  definition: /^(?:was|wer) (?:ist|sind|war|waren)(?: eine?| der| die| das)? \S+\s*\??$/i
}

const french: FollowUpLanguage = {
  function: words(
    "le la les l un une des de du d et ou mais à au aux en dans sur sous pour par avec sans chez est sont était étaient être " +
      "a ont avait peut peuvent doit faut que qu quel quelle quels quelles qui quoi quand où pourquoi comment combien il " +
      "elle ils elles on le lui leur leurs son sa ses ce cet cette ces cela ça y en je tu nous vous ne pas si très se s t"
  ),
  question: words("que qu quel quelle quels quelles qui quoi quand où pourquoi comment combien"),
  auxiliary: words("est sont était étaient a ont avait peut peuvent doit faut"),
  article: words("le la les l un une ce cet cette ces"),
  of: words("de du des d"),
  preposition: words(
    "à au aux en dans sur sous pour par avec sans chez depuis avant après pendant entre vers si"
  ),
  clause: /,|;|\b(?:quand|si|lorsque|parce que|après|avant|que|et|ou|mais|car|tandis|puisque|pendant que)\b/i,
  pronoun: all(
    "-il|-elle|-ils|-elles|-on|il|elle|ils|elles|cela|ça|celui-ci|celle-ci|ceux-ci|celles-ci|ce|cet|cette|ces|là-bas|y|lui|celui|celle"
  ),
  possessive: all("son|sa|ses|leurs?"),
  expletive:
    /est-ce qu[e'’]?|qu['’]est-ce qu[ie'’]|\bil y a\b|\by a-t-il\b|\bil faut\b|\bfaut-il\b|\bil (?:pleut|neige)\b|\best-il (?:\p{L}+ )?(?:de|que)\b|\bc['’]est\b|\best-ce\b|\bpeut-on\b|\bdoit-on\b/giu,
  opening: start("et|mais|ou|aussi|qu['’]en est-il de|quoi d['’]autre|qui d['’]autre"),
  generic:
    /\b(?:l['’]|le |la |les )(?:étude|rapport|article|auteurs?|document|méthode|entreprise|livre|film)\b/i,
  definition:
    /^(?:qu['’]est-ce qu(?:e |['’])|qui est |que signifie |c['’]est quoi )(?:une? |l[ea] |l['’])?\S+\s*\??$/i
}

const spanish: FollowUpLanguage = {
  function: words(
    "el la los las un una unos unas y o pero de del a al en con sin por para sobre entre es son era eran fue fueron está " +
      "están ha han había puede pueden debe hay que qué cuál cuáles quién quiénes cuándo dónde cómo cuánto cuánta cuántos " +
      "cuántas lo le les se su sus él ella ellos ellas este esta estos estas ese esa esos esas esto eso allí ahí yo tú no " +
      "si muy más menos también"
  ),
  question: words(
    "qué cuál cuáles quién quiénes cuándo dónde cómo cuánto cuánta cuántos cuántas que cual como donde cuando"
  ),
  auxiliary: words("es son era eran fue fueron está están ha han había puede pueden debe tiene tienen"),
  article: words("el la los las un una unos unas este esta estos estas ese esa"),
  of: words("de del"),
  preposition: words("a al en con sin por para sobre entre desde hasta durante antes después si"),
  clause: /,|;|\b(?:cuando|si|mientras|porque|después|antes|que|y|o|pero|pues|aunque)\b/i,
  pronoun: all(
    "él|ella|ellos|ellas|ello|est[aeo]s?|es[aeo]s?|aquel(?:la|los|las)?|allí|ahí|allá|lo(?! que)|les?(?= \\p{L})"
  ),
  possessive: all("sus?|suy[oa]s?"),
  expletive: /\bha(?:y|bía)\b|\bes (?:\p{L}+ )?que\b|\ba (?:este|ese) respecto\b/giu,
  opening: start("y|pero|o|también|qué (?:hay|pasa) con|qué tal|qué más|quién más|algo más"),
  generic:
    /\b(?:el|la|los) (?:estudio|informe|artículo|autor(?:es)?|documento|método|empresa|libro|película)\b/i,
  definition: /^¿?(?:qué|quién) (?:es|son|fue|significa) (?:una? |el |la )?\S+\s*\?$/i
}

/** The first one is that of a question without words of any. */
export const LANGUAGES: readonly [FollowUpLanguage, ...ReadonlyArray<FollowUpLanguage>] = [
  english,
  german,
  french,
  spanish
]

/** Nouns that say what is asked about something. A question that begins with one leaves its subject out. */
const CHINESE_ATTRIBUTES =
  "名字|占地面积|全名|别名|俗名|原名|名称|外形|外观|形状|身体|面积|体长|长度|高度|宽度|深度|重量|大小|价格|费用|收费|作者|导演|主角|主演|" +
  "内容|主题|情节|剧情|死因|原因|特点|特征|颜色|人口|常住人口|历史|用途|作用|功能|意义|结果|位置|地址|原址|产地|原产地|时间|日期|叶子|叶|" +
  "花|果实|种子|卵|幼鱼|幼虫|成年的?|晚年|早年|首都|官方语言|语言|货币|父亲|母亲|妻子|丈夫|儿子|女儿|职业|职务|学历|成绩|出生地|国籍|" +
  "总部|创始人|成员|经济|气候|交通|全长|终点|起点|中心|制作人|歌手|票价|门票|开放时间|要求|步骤|方法|优点|缺点|优势|不足|影响"

/** Verbs, adverbs and question words that do not begin a question with a subject of its own. */
const CHINESE_PREDICATES =
  "是|有(?!限|机|些|效|关|氧|线|色)|叫|由|被(?!.*的\\p{Script=Han}{2})|共|总共|一共|又|也|还|曾(?=[获被在任经])|可以|能|能够|会(?!议|员|计)|要|需要|应该|必须|一般(?!的)|通常|主要(?!角)|" +
  "属于|位于|分布|生活|生长|成立|建于|建成|创立|创办|发明|发现|获得|包括|包含|分为|用来|用于|适宜|适合|适用|怎么|怎样|如何|什么时候|何时|" +
  "哪里|哪儿|在哪|在什么|哪一?年|哪天|哪一天|多少|多大|多长|多高|多久|多远|多重|几|谁|为什么|为何|因何|因为什么|定都|每年能?|最|站立时"

export const CHINESE = {
  pronoun:
    /它们?(?!的?士)|[他她]们?(?<!其[他她])(?!人)|那里|那儿|那边|这里|这儿|[这那](?=[个部座种位家条项张首本只场次件些款支届年])[个部座种位家条项张首本只场次件些款支届]?|(?<!应)该(?=\p{Script=Han})|此(?!外|后|前)(?<!因此|如此|彼此|从此)|(?<=^|[，,、在与为是对将把由])其(?![中他它她实余次间])/u,
  /** Nothing in the same question explains these. */
  place: /那里|那儿|那边|这里|这儿/,
  /** “Who built the lock”: with an object, which the verb's particle shows. */
  withObject: /^(?:谁|什么时候|何时|为什么|为何).*[了过].{2}/,
  /** “Why is the sky blue” has its subject after the question word. */
  why: /^(?:为什么|为何|因何|怎么|怎样|如何)/,
  /** The pronoun of “its …”, which needs 的. */
  possessive: /^其/,
  opening:
    /^(?:那么?(?!里|儿|边|个|些|座|种|位)|还有|以及|另外|此外|然后|后来|至于|而且|其中)[，,]?(?=.{0,16}$)/,
  /** “…呢？”: another thing, or another attribute of the same thing. */
  other: /呢(?:[？?]?$|[，,])/,
  attribute: new RegExp(
    `^(?:${CHINESE_ATTRIBUTES})(?=是|有|呢|多|在|怎|如何|为|何|长|大|由|叫|能|可|[？?]|$|什么|国|通常|一般|需要)`
  ),
  predicate: new RegExp(`^(?:${CHINESE_PREDICATES})`, "u"),
  /** Characters without a topic. */
  function:
    /什么|哪[里儿个些]?|多少|怎么|怎样|如何|为何|为什么|何时|时候|几|谁|[的了是在和与有不吗呢吧啊过着被由能会可以要到从于又也还就都]/g,
  /** What follows the subject of a question. */
  afterSubject:
    /的|是|在|有|由|又|被|为|何|谁|哪|几|多|怎|如何|因|属于|隶属|位于|往返|分布|生存|生活|生长|毗邻|获得|负责|通常|一般|主要|适宜|适合|可以|能|会|参与|就读|出生|毕业|成立|建立|建成|开放|投入|收费|每|全长|原址|原名|面积|占地|什么|于|到|从|[，,？?]/
} as const

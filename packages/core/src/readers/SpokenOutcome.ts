/** What a model says in words in place of an answer: that the passages do not answer, or that it refuses. */

/** "The passages do not mention", in the languages that models answer in most. */
const NOT_FOUND_WORDS = [
  /\b(?:passages?|documents?|context|texts?|sources?|information)\b.{0,60}\b(?:do(?:es)?(?:n['’]t| not)|did(?:n['’]t| not)|no(?:t| information)|never|lacks?|insufficient)\b/i,
  /\b(?:no|not enough|insufficient) (?:relevant |specific )?(?:information|mention|answer|details?|data)\b/i,
  /\b(?:not|isn['’]t|cannot be|can['’]t be|could not be) (?:\w+ )?(?:found|mentioned|stated|specified|provided|answered|determined|given)\b.{0,60}\b(?:passages?|documents?|context|texts?|sources?)\b/i,
  /\bI (?:could not|couldn['’]t|cannot|can['’]t|do not|don['’]t) (?:find|answer|determine|know|see|have)\b/i,
  /(?:段落|文档|文件|资料|文中|文本|上下文|原文).{0,20}(?:没有|未|并未|不包含|无法|沒有)|(?:没有|未|无法)(?:找到|提及|提到|回答|说明)/,
  /(?:Passagen|Textstellen|Dokumente?n?|Texte?)\b.{0,60}\b(?:nicht|keine?n?)\b|\bkeine (?:Angaben?|Informationen?|Antwort)\b/i,
  /(?:passages?|documents?|textes?)\b.{0,60}\b(?:ne|n['’]|aucune?)\b|\baucune (?:information|réponse|mention)\b/i,
  /\bje ne (?:trouve|peux|sais)\b|\bno (?:encuentro|puedo|sé)\b/i,
  /\b(?:passaggi|documenti|testi|contesto|trechos|passagens|documentos?|textos?)\b.{0,60}\b(?:non|não)(?!\p{L})/iu,
  /(?:отрывк|фрагмент|документ|текст|источник)\p{L}{0,4}(?!\p{L}).{0,60}(?<!\p{L})(?:нет|не|отсутству\p{L}{1,4})(?!\p{L})/iu,
  /^\W{0,4}(?:not[ _]found|unanswerable|no answer|n\/a)\W{0,4}$/i,
  /\b(?:pasajes|documentos?|textos?)\b.{0,60}\bno\b|\bno (?:se menciona|hay información|se encuentra)\b/i,
  /(?:文書|パッセージ|文章|資料).{0,40}(?:ありません|ない|いません)|(?:記載|言及|情報)(?:され|が|は).{0,10}(?:ません|ない)/,
  /(?:구절|문서|지문|본문).{0,40}(?:없|않)/
]

const REFUSAL_WORDS =
  /\b(?:I['’]m sorry|I apologi[sz]e|as an AI|I must decline|(?:cannot|can['’]t|unable to|not able to|won['’]t) (?:assist|help|comply|fulfil|provide|discuss))\b|(?:抱歉|对不起|無法|无法)(?:，|,)?.{0,10}(?:协助|帮助|提供|满足)|(?:申し訳|お手伝いできません|お答えできません)/i

export const saysNotFound = (text: string): boolean => NOT_FOUND_WORDS.some((words) => words.test(text))

export const saysRefusal = (text: string): boolean => REFUSAL_WORDS.test(text)
